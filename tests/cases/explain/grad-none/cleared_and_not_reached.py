"""The first loss reached `b`, the second does not, and the loop in between has cleared it."""

import torch

w = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
params = [w, b]
(w * b).sum().backward()
for p in params:
    p.grad = None
(w * 3).sum().backward()
for p in params:
    p.data += -0.1 * p.grad
