import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
for m in net.modules():
    if isinstance(m, nn.BatchNorm1d):
        m.weight.requires_grad_(False)
net(torch.randn(6, 3)).pow(2).mean().backward()
print(net[1].weight.grad.norm())
