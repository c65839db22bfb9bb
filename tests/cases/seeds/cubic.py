import torch

x = (2 * torch.ones(2, 2)).requires_grad_()
z = x * x * x * 2 + x
z.backward(torch.ones_like(z))
print(x.grad)
