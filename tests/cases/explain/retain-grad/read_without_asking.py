import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
loss = (h ** 2).sum()
loss.backward()
print(h.grad)
