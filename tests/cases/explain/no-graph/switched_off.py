import torch

torch.set_grad_enabled(False)
w = torch.ones(2, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
