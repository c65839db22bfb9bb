import torch
from torch import nn
torch.manual_seed(0)
a = nn.Linear(3, 2)
d = nn.functional.pairwise_distance(a(torch.randn(4, 3)), a(torch.randn(4, 3)))
d.mean().backward()
print(a.weight.grad)
