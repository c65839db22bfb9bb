import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True) * 0.01
loss = (w * 2).sum()
loss.backward()
print(w.grad)
