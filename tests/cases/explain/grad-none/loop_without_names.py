"""The elements of the list have no names of their own."""

import torch
params = [torch.randn(2, requires_grad=True) for _ in range(3)]
x = torch.ones(2)
loss = (params[0] * x + params[1]).sum()
loss.backward()
for p in params:
    p.data -= 0.1 * p.grad
