import torch

w = torch.randn(3, 3, requires_grad=True)
x = torch.randn(3, 3)
out = torch.tanh(x @ w)
g = torch.autograd.grad(out, w, grad_outputs=x)
print(g)
