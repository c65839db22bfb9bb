import torch

base = torch.randn(4, requires_grad=True) * 1.0
v = base[:2]
v.retain_grad()
base.mul_(2)
base.sum().backward()
print(v.grad)
