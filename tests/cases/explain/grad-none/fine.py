import torch

w = (torch.randn(3) * 0.01).requires_grad_()
print(w.grad)
loss = (w * 2).sum()
loss.backward()
if w.grad is not None:
    print(w.grad)
scaled = w * 3
print(torch.autograd.grad(scaled.sum(), w))
idle = torch.ones(1, requires_grad=True)
w.grad = None
