import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
xt = torch.rand(6, 2, requires_grad=True)
u = net(xt)
u_x = torch.autograd.grad(u.sum(), xt[:, 0:1], create_graph=True)[0]
