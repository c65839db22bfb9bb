import torch

w = torch.zeros(2, 2, requires_grad=True)
w[0, 0] = 1.0
loss = w.sum()
loss.backward()
