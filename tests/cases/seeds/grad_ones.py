import torch
from torch.autograd import grad

x = torch.ones(2, 2, requires_grad=True)
v = x + 2
y = v**2
print(grad(outputs=y, inputs=x, grad_outputs=torch.ones_like(y)))
print(grad(outputs=v, inputs=x, grad_outputs=torch.ones_like(v)))
