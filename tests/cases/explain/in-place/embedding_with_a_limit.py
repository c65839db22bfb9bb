import torch
from torch import nn
torch.manual_seed(0)
emb = nn.Embedding(5, 3, max_norm=1.0)
W = torch.randn(3, 2, requires_grad=True)
idx = torch.tensor([0, 1])
a = emb.weight @ W
b = emb(idx) @ W
(a.sum() + b.sum()).backward()
