import torch
from torch import nn

net = nn.Linear(2, 2)
nn.init.xavier_uniform(net.weight)
net(torch.ones(1, 2)).sum().backward()
