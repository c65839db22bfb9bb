import torch
import torch.nn as nn

torch.manual_seed(0)
Wf, Wi, Wo, Wg = (nn.Linear(5, 3) for _ in range(4))
h = c = torch.zeros(2, 3)
for t in range(4):
    z = torch.cat([torch.randn(2, 2), h], 1)
    f, i, o, g = torch.sigmoid(Wf(z)), torch.sigmoid(Wi(z)), torch.sigmoid(Wo(z)), torch.tanh(Wg(z))
    c = f * c + i * g
    h = o * torch.tanh(c)
h.sum().backward()
