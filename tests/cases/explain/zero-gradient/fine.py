import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
x = torch.randn(32, 3)
net(x).clamp(-100, 100).pow(2).mean().backward()
v = torch.tensor([1.0], requires_grad=True)
((v - 1.0) ** 2).sum().backward()
print(v.grad)
