import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(1, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
total = 0.0
for length in (2, 3, 4, 5):
    state = torch.zeros(1, 3)
    for _ in range(length):
        state = cell(torch.ones(1, 1), state)
    loss = state.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
print(total)
