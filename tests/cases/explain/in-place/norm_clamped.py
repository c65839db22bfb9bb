import torch

x = torch.randn(4, 3, requires_grad=True)
norm = x.norm(dim=1, keepdim=True)
y = x / norm
norm.clamp_(min=1e-8)
y.sum().backward()
