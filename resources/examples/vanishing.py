"""A deep stack of sigmoids: the gradient shrinks on its way to the first layer."""
import torch
from torch import nn

torch.manual_seed(0)

layers = nn.Sequential(*(nn.Sequential(nn.Linear(8, 8), nn.Sigmoid()) for _ in range(8)))
x = torch.randn(4, 8)

loss = layers(x).pow(2).mean()
loss.backward()

for number, layer in enumerate(layers):
    print(number, f"{layer[0].weight.grad.norm():.2e}")
