import torch

x = torch.tensor([[3.0]], requires_grad=True)
y = x * x
y.backward()
z = torch.tensor([1.0, 2.0], requires_grad=True)
total = (z * z).mean()
total.backward()
print(x.grad, z.grad)
