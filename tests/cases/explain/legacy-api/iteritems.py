import torch

params = {"w": torch.ones(2, requires_grad=True)}
loss = sum(v.sum() for k, v in params.iteritems())
loss.backward()
