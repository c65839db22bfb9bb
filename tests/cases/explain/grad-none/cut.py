import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([3.0, 4.0], requires_grad=True)
hidden = (w * 2).detach()
loss = (hidden * v).sum()
loss.backward()
print(w.grad + v.grad)
