import torch

x = torch.ones(1, requires_grad=True)
print x.grad
