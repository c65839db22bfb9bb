import torch

x = torch.tensor([-4.0, 9.0], requires_grad=True)
y = torch.where(x > 0, torch.sqrt(x), -x)
y.sum().backward()
print(x.grad)
