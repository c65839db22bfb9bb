import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
extra = nn.Linear(2, 1)
loss = net(torch.ones(1, 2)).sum()
grads = torch.autograd.grad(loss, [*net.parameters(), *extra.parameters()])
