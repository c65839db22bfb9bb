"""The `h` of the function is a result, the `h` of the file a leaf."""

import torch

h = torch.tensor([1.0, 2.0], requires_grad=True)


def step(x):
    h = x * 2
    h.sum().backward()
    print(h.grad)


step(h)
print(h.grad)
