import torch

weights = torch.rand(6, requires_grad=True)
cost = (weights * torch.arange(6.0)).sum()
cost.backward(weights)
print(weights.grad)
