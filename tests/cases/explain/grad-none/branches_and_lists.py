import torch
import torch.nn as nn

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch1 = nn.Linear(2, 2)
        self.branch2 = nn.Linear(2, 2)
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x, use2=False):
        x = self.branch2(x) if use2 else self.branch1(x)
        for l in self.layers[:2]:
            x = l(x)
        return x

net = Two()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
for n, p in net.named_parameters():
    if p.grad is None:
        print("no grad:", n)
