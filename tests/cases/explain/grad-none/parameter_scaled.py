import torch
import torch.nn as nn

class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1)) * 0.1
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return self.lin(x) * self.scale

m = Attn()
m(torch.randn(2, 3)).sum().backward()
print(m.scale.grad)
