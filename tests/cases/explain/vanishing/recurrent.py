import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 8)
first = torch.zeros(1, 8, requires_grad=True)
state = first
for step in range(30):
    state = cell(torch.ones(1, 2), state)
state.sum().backward()
print(first.grad.norm())
