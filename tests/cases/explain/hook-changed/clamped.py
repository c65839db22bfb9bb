import torch

x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 3
h.register_hook(lambda g: g.clamp(-1, 1))
(h * h).sum().backward()
print(x.grad)
