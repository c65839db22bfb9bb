import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(8, 8) for _ in range(12)]
h = torch.randn(4, 8)
for layer in layers:
    h = h + 0.3 * torch.tanh(layer(h))
(1e6 * h.pow(2).mean()).backward()
small = nn.Linear(2, 1)
small(torch.ones(1, 2)).sum().backward()
nn.utils.clip_grad_norm_(small.parameters(), 1.0)
