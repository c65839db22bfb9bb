import torch

x = torch.ones(1, requires_grad=True)
for step in xrange(2):
    (x * 2).backward()
