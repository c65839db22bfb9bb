import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
out = net(torch.ones(1, 2)).detach()
loss = (out - 1).pow(2).sum()
loss.backward()
