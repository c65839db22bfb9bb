"""Four operations only, but each of them multiplies the gradient by orders of magnitude."""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x
for _ in range(4):
    y = y ** 3
y.backward()
print(x.grad)
