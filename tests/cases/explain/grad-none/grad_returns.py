import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x ** 2).sum()
(g,) = torch.autograd.grad(y, x)
x.data -= 0.1 * x.grad
