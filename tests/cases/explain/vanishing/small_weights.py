import torch

torch.manual_seed(0)
x = torch.randn(5, 16, requires_grad=True)
h = x
for _ in range(10):
    h = torch.tanh(h @ (0.02 * torch.randn(16, 16)))
h.sum().backward()
print(x.grad.norm())
