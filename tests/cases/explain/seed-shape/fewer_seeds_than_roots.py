import torch

a = torch.ones(2, requires_grad=True)
y1, y2 = a * 2, a * 3
torch.autograd.backward([y1, y2], [torch.ones(2)])
