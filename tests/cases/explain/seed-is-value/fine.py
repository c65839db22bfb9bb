import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x ** 2
weights = torch.tensor([1.0, 2.0])
y.backward(weights)
z = x ** 3
residual = (z - 1).detach()
z.backward(residual)
print(x.grad)
