import torch
from torch import nn
torch.manual_seed(0)
scores = nn.Linear(4, 3)(torch.randn(2, 4))
values, idx = scores.max(1)
loss = idx.float().mean()
loss.backward()
