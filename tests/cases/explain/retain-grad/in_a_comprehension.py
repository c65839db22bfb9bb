"""Read of each element of a list."""

import torch
hs = [torch.ones(2, requires_grad=True) * i for i in range(1, 4)]
loss = sum(h.sum() for h in hs)
loss.backward()
print([h.grad for h in hs])
