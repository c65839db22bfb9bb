"""Three cubings: the gradient grows until float32 holds it no more."""

import torch

x = torch.tensor(100., requires_grad=True)
a = x ** 3
b = a ** 3
c = b ** 3
c.backward()
print(x.grad)
