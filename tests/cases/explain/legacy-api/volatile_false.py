import torch
from torch import autograd, nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
x = autograd.Variable(torch.ones(3, 2), volatile=False)
loss = net(x).sum()
loss.backward()
