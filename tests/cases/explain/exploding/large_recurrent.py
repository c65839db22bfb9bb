import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 8, nonlinearity="relu")
nn.init.constant_(cell.weight_hh, 0.5)
first = torch.full((1, 8), 0.1, requires_grad=True)
state = first
for step in range(20):
    state = cell(torch.ones(1, 2), state)
state.sum().backward()
print(first.grad.norm())
