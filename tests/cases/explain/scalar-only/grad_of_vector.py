import torch

angle = torch.linspace(0, 3, 4, requires_grad=True)
height = torch.sin(angle)
slope, = torch.autograd.grad(height, angle)
print(slope)
