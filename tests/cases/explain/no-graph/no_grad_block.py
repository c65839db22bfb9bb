import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
data = torch.ones(2, 3)
with torch.no_grad():
    prediction = model(data)
loss = (prediction - 1).pow(2).mean()
loss.backward()
