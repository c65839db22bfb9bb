import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 20), nn.Tanh(), nn.Linear(20, 2)).double()
x = torch.rand(10, 3, requires_grad=True, dtype=torch.float64)
y = model(x)

(summed,) = torch.autograd.grad(y, x, retain_graph=True, grad_outputs=torch.ones_like(y))
full = torch.autograd.functional.jacobian(model, x)
blocks = torch.diagonal(full, offset=0, dim1=0, dim2=2).permute(2, 0, 1)
print(summed.shape, blocks.shape, torch.allclose(blocks.sum(dim=1), summed))

columns = []
for output in range(2):
    seed = torch.zeros_like(y)
    seed[:, output] = 1.0
    columns.append(torch.autograd.grad(y, x, retain_graph=True, grad_outputs=seed)[0])
print(torch.allclose(torch.stack(columns, dim=1), blocks))
