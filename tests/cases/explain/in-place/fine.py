import torch

x = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
y = x + 1
y += 2
y[0] = 5.0
(y * 3).sum().backward()
with torch.no_grad():
    x -= 0.1 * x.grad
x.grad = None
h = torch.tanh(x).clone()
h[0] = 0.0
h.sum().backward()
