"""The gradient of a gradient: create_graph=True makes the backward pass a graph of its own."""
import torch

x = torch.tensor(2.0, requires_grad=True)

y = x**3
(first,) = torch.autograd.grad(y, x, create_graph=True)
(second,) = torch.autograd.grad(first, x)

print(first.item(), second.item())
