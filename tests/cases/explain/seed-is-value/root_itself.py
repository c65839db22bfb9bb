import torch

p = torch.full((3,), 5.0, requires_grad=True)
p.backward(p)
print(p.grad)
