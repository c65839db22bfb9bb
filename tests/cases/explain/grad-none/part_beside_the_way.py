import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
def residual(data):
    x = data[:, 0:1]
    t = data[:, 1:2]
    u = net(data)
    return torch.autograd.grad(u.sum(), x, create_graph=True)[0]
residual(torch.rand(6, 2, requires_grad=True)).pow(2).mean().backward()
