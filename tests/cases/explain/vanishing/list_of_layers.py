import torch
import torch.nn as nn

class DeepTanh(nn.Module):
    def __init__(self, depth=30):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(10, 10) for _ in range(depth))
        for l in self.layers:
            nn.init.normal_(l.weight, std=0.1)

    def forward(self, x):
        for l in self.layers:
            x = torch.tanh(l(x))
        return x

torch.manual_seed(0)
m = DeepTanh()
m(torch.randn(4, 10)).sum().backward()
print(m.layers[0].weight.grad.norm())
