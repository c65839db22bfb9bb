import torch

x = torch.rand(4, 2, requires_grad=True)
out = x.exp()
seed = torch.ones(4)
result = torch.autograd.grad(out, x, grad_outputs=seed)
