import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
running = 0.0
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.ones(3, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
    running += loss
print(running)
