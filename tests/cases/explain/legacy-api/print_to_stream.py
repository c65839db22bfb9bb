import sys
import torch

x = torch.ones(1, requires_grad=True)
x.sum().backward()
print >>sys.stderr, "grad", x.grad
