import torch

x = torch.ones(1, requires_grad=True)
(x * 2).backward()
print "gradient", x.grad
