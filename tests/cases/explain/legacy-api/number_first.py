import torch

w = torch.ones(2, requires_grad=True)
(w * 3).sum().backward()
with torch.no_grad():
    w.add_(-0.1, w.grad)
