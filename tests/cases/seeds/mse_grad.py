import torch
from torch import nn
from torch.autograd import grad

x = torch.ones(2, 2, requires_grad=True)
target = torch.ones_like(x) * 16 - 0.5
v = x + 2
y = v**2
loss = nn.MSELoss()(y, target)
print("loss", loss.item())
print(grad(outputs=loss, inputs=x))
