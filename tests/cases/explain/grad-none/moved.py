import torch

w = torch.ones(2, requires_grad=True)
w = w.to(torch.float64)
loss = (w ** 2).sum()
loss.backward()
print(w.grad)
