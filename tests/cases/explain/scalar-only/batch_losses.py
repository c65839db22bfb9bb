import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
inputs, wanted = torch.randn(5, 3), torch.randn(5, 1)
errors = nn.functional.mse_loss(net(inputs), wanted, reduction="none")
errors.backward()
