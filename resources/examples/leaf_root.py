"""x.backward(x): the root is the leaf itself, and its gradient is the seed."""
import torch

x = torch.full((2, 2), 2.0, requires_grad=True)

x.backward(x)

print(x.grad)
