import torch

x = torch.rand(4, 2, requires_grad=True)
out = x.exp()
seed = torch.zeros(4, 2)
seed[0, 1] = 1.0
(row,) = torch.autograd.grad(out, x, grad_outputs=seed)
cost = x.sum()
cost.backward(torch.tensor(2.0))
print(row, x.grad)
