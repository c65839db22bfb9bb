"""Three sigmoids only, all of them saturated."""

import torch

x = torch.tensor([20., 25., 30.], dtype=torch.float64, requires_grad=True)
a = torch.sigmoid(x)
b = torch.sigmoid(a * 20)
c = torch.sigmoid(b * 20)
c.sum().backward()
print(x.grad)
