import torch
import torch.nn as nn

class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.ones(3))
        self.w = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = x * self.w * self.count
        self.count += 1
        return y

VQ()(torch.randn(2, 3)).sum().backward()
