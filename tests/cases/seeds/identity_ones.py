import torch

x = (2 * torch.ones(2, 2)).requires_grad_()
z = x
z.backward(torch.ones_like(z))
print(x.grad)
