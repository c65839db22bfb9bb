import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
(h ** 2).sum().backward()
h.retain_grad()
print(h.grad)
