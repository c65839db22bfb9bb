import torch

x = torch.tensor([0.5, 1.5], requires_grad=True)
y = torch.sin(x)
(slope,) = torch.autograd.grad(y, x, grad_outputs=x)
print(slope)
