"""A named parameter that the forward pass leaves out, met in a loop."""

import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.extra = nn.Linear(3, 3)
    def forward(self, x):
        return self.a(x)
net = Net()
for epoch in range(2):
    loss = net(torch.randn(5, 3)).mean()
    net.zero_grad()
    loss.backward()
    with torch.no_grad():
        for name, p in net.named_parameters():
            p -= 0.1 * p.grad
