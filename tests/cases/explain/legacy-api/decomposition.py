import torch

A = torch.randn(4, 3, requires_grad=True)
q, r = torch.qr(A)
r.diagonal().abs().log().sum().backward()
