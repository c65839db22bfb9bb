import torch
from torch import nn

torch.manual_seed(0)
trunk, head = nn.Linear(2, 2), nn.Linear(2, 1)
trunk_opt = torch.optim.SGD(trunk.parameters(), lr=0.01)
head_opt = torch.optim.SGD(head.parameters(), lr=0.01)
x = torch.ones(3, 2)
for step in range(2):
    head_opt.zero_grad()
    head(trunk(x)).pow(2).mean().backward()
    head_opt.step()
    trunk_opt.step()
