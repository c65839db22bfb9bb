import torch

x = torch.tensor([-4.0, 9.0], requires_grad=True)
safe = torch.where(x > 0, x, torch.ones_like(x))
y = torch.where(x > 0, torch.sqrt(safe), -x)
y.sum().backward()
z = torch.tensor([1e-8, 1.0], requires_grad=True)
torch.log(z).sum().backward()
print(x.grad, z.grad)
