import torch
import torch.nn as nn

torch.manual_seed(0)
D = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.randn(5, 2, requires_grad=True)
out = D(x)
g, = torch.autograd.grad(out.sum(), x)
gp = ((g.norm(dim=1) - 1) ** 2).mean()
gp.backward()
