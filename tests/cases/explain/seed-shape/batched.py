import torch

x = torch.randn(3, requires_grad=True)
y = x ** 2
rows, = torch.autograd.grad(y, x, torch.ones(3), is_grads_batched=True)
