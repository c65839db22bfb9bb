import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
x = torch.randn(4, 2, requires_grad=True)
y = model(x)
(dydx,) = torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y))
print(dydx.shape)
