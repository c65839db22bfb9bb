import torch
import torch.nn as nn

class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        h = torch.tanh(self.a(x))
        h += x
        return self.b(h)

Residual()(torch.randn(2, 4)).sum().backward()
