import torch

a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(2.0, requires_grad=True)
pair = torch.tensor([a * 2, b * 3])
pair.sum().backward()
