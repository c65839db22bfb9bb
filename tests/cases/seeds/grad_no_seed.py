import torch
from torch.autograd import grad

x = torch.ones(2, 2, requires_grad=True)
v = x + 2
y = v**2
try:
    grad(outputs=y, inputs=x)
except RuntimeError as error:
    print(error)
