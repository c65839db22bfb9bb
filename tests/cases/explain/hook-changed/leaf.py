import torch

w = torch.ones(2, requires_grad=True)
w.register_hook(lambda g: g * 10)
(w * 2).sum().backward()
print(w.grad)
