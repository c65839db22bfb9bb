import torch

M = torch.randn(3, 3, requires_grad=True)
S = M + M.t()
w, v = S.symeig(eigenvectors=True)
w.sum().backward()
