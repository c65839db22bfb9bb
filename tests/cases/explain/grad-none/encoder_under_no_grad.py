import torch
import torch.nn as nn

torch.manual_seed(0)
enc, dec = nn.Linear(3, 3), nn.Linear(3, 1)
opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()))
for _ in range(3):
    opt.zero_grad()
    with torch.no_grad():
        h = enc(torch.randn(4, 3))
    dec(h).pow(2).mean().backward()
    opt.step()
