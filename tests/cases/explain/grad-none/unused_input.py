import torch

a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
y = (a * 2).sum()
print(torch.autograd.grad(y, [a, b]))
