import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder, critic = nn.Linear(4, 2), nn.Linear(2, 4), nn.Linear(2, 1)
data = torch.randn(3, 4)
code = torch.tanh(encoder(data))
reconstruction = (decoder(code) - data).pow(2).mean()
penalty = critic(code).pow(2).mean()
reconstruction.backward()
penalty.backward()
