import torch
x = torch.tensor(2.0, requires_grad=True)
y = x ** 2
z = y * 3
z.retain_grad
out = z.exp().log()
out.backward()
print(z.grad)
