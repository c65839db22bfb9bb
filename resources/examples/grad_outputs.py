"""torch.autograd.grad returns the gradient; .grad stays None."""
import torch
from torch.autograd import grad

x = torch.ones(2, 2, requires_grad=True)
v = x + 2
y = v**2

(dy_dx,) = grad(outputs=y, inputs=x, grad_outputs=torch.ones_like(y))

print(dy_dx, x.grad)
