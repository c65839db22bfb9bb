"""The disk is full after the first call: no file may grow any more."""
import os
import resource
import sys

import torch

x = torch.ones(200, 200, requires_grad=True)
(x * 2).sum().backward()
limit = os.path.getsize(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
for turn in range(40):
    (x * torch.rand(200, 200)).pow(2).sum().backward()
print("all calls made", x.grad.shape)
