import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
for p in model[0].parameters():
    p.requires_grad = False
out = model(torch.randn(2, 3)).sum()
out.backward()
print(model[0].weight.grad)
print(model[2].weight.grad)
