import torch
import torch.nn.functional as F
torch.manual_seed(0)
w = torch.randn(1, 3, requires_grad=True)
x = torch.randn(6, 3)
y = x.sum(1, keepdim=True)
for step in range(5):
    (g,) = torch.autograd.grad(F.mse_loss(F.linear(x, w), y), w, create_graph=True)
    w = w - 0.1 * g
print(w)
