"""A result that only the body of a class has a name for."""

import torch
class Probe:
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    s = y.sum()
    s.backward()
    print(x.grad)
x = Probe.y
y = torch.tensor(3., requires_grad=True)
(y * y).backward()
print(y.grad)
print(Probe.y.grad)
