import torch
import torch.nn as nn

net = nn.Linear(3, 1)
for p in net.parameters():
    p.register_hook(lambda g: torch.clamp(g, -0.1, 0.1))
net(10 * torch.ones(2, 3)).sum().backward()
print(net.weight.grad)
