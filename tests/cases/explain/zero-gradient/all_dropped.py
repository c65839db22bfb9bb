import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(1.0), nn.Linear(4, 1))
net(torch.randn(5, 3)).sum().backward()
print(net[0].weight.grad)
#
