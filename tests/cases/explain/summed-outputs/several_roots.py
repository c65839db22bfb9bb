import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y1, y2 = x.prod(), x.sum()
grads = torch.autograd.grad([y1, y2], x)
print(grads)
