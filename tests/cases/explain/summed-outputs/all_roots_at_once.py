import torch

q = torch.tensor([1.0, 3.0], requires_grad=True)
f = torch.stack([q[0] * q[1], q[0] ** 2, q[1] ** 3])
rows = torch.autograd.grad([f[0], f[1], f[2]], [q, q, q])
print(torch.stack(rows))
