import torch
from torch import nn

criterion = nn.MSELoss(size_average=False)
x = torch.ones(3, requires_grad=True)
loss = criterion(x * 2, torch.zeros(3))
loss.backward()
