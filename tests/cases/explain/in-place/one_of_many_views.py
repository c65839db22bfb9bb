import torch

pairs = torch.randn(2, 3, requires_grad=True)
first, second = (pairs * 1.0).unbind()
first *= 2
(first + second).sum().backward()
