import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
for parameter in model.parameters():
    parameter.requires_grad = False
loss = model(torch.ones(1, 3)).sum()
loss.backward()
