import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
torch.autograd.backward([y], [1.0])
