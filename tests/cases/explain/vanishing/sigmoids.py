import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(8, 8) for _ in range(12)]
h = torch.ones(4, 8)
for layer in layers:
    h = torch.sigmoid(layer(h))
h.mean().backward()
print(layers[0].weight.grad.norm())
