import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
length = torch.sqrt(x)
(length * torch.tensor([0.0, 1.0])).sum().backward()
print(x.grad)
