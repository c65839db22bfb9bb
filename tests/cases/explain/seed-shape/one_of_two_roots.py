import torch

a = torch.randn(2, 3, requires_grad=True)
out = a.sum(1)
loss = a.sum()
torch.autograd.backward([loss, out], [torch.tensor(1.0), torch.ones(3)])
