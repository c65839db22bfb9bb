import torch

w = torch.ones(2, requires_grad=True)
for step in range(2):
    w.grad.zero_()
    loss = (w * 3).sum()
    loss.backward()
