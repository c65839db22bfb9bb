import torch
x = torch.tensor([1., 2.], requires_grad=True)
y = (x ** 2).sum()
x = x.clone()
g = torch.autograd.grad(y, x)
