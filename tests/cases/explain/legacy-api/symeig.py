import torch

torch.manual_seed(0)
m = torch.randn(3, 3, requires_grad=True)
e, v = torch.symeig(m + m.t(), eigenvectors=True)
e.sum().backward()
