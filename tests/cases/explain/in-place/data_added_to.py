import torch

a = torch.randn(3, requires_grad=True)
b = torch.randn(3)
c = a * b
b.add_(1)
c.sum().backward()
