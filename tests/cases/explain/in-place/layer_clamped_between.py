import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
out = net(torch.randn(3, 2)).sum()
with torch.no_grad():
    net[1].weight.clamp_(-0.01, 0.01)
out.backward()
