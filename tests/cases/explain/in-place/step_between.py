import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
out = second(torch.relu(first(torch.ones(1, 2))))
loss = out.sum()
loss.backward(retain_graph=True)
optimizer.step()
again = (out ** 2).sum()
again.backward()
