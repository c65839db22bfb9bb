import torch
import torch.nn as nn

net = nn.Linear(2, 1)
x = torch.tensor([[1.0, float("nan")], [0.0, 1.0]])
loss = net(x).pow(2).mean()
loss.backward()
