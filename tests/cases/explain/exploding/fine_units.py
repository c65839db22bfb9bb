"""Large factors that stand once each: units, not depth."""

import torch
a = torch.tensor(50., requires_grad=True)
b = torch.tensor(40., requires_grad=True)
c = a * 1000
loss = (c * b * 1e-3) ** 2
loss.backward()
print(a.grad, b.grad)
