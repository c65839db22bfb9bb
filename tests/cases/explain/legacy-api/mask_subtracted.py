import torch

x = torch.tensor([1.0, -1.0], requires_grad=True)
mask = x > 0
y = (x * (1 - mask)).sum()
y.backward()
