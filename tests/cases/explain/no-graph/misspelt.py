import torch

x = torch.randn(2, 2)
x.require_grad = True
loss = (x ** 2).sum()
loss.backward()
