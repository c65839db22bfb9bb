import numpy as np
import torch

np.random.seed(0)
ne, m, n = 3, 79, 164
G = torch.from_numpy(np.random.rand(m, n))
w = torch.from_numpy(np.random.rand(n, n))
z = torch.from_numpy(-np.random.rand(n)).requires_grad_()
e, v = torch.symeig(torch.diag(2 * z - torch.sum(w, dim=1)) + w, eigenvectors=True, upper=False)
ssev = torch.sum(torch.pow(e[-ne:] * v[:, -ne:], 2), dim=1)
out = torch.sum(torch.matmul(G, ssev.reshape((n, 1))))
out.backward(z)
print(z.grad)
