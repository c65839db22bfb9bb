import torch

x = torch.ones(2, requires_grad=True)
v = torch.ones(2)
y = (x * v).sum()
gx, gv = torch.autograd.grad(y, [x, v])
