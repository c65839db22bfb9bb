import torch
import torch.nn as nn

net = nn.Linear(2, 1)
y = torch.tensor([[1.0], [float("nan")]])
loss = nn.functional.mse_loss(net(torch.ones(2, 2)), y)
loss.backward()
