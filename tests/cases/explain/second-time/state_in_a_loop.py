import torch
from torch import nn

torch.manual_seed(0)
cell = nn.GRUCell(3, 4)
hidden = torch.zeros(1, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for step in range(3):
    hidden = cell(torch.ones(1, 3), hidden)
    loss = hidden.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
