"""Leaves without one shape: nested tensors, also ones larger than what is kept whole, and an optimizer that steps them."""

import torch

small = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)
large = torch.nested.nested_tensor([torch.ones(900, 3), torch.ones(700, 3)], requires_grad=True)
weight = torch.ones(3, requires_grad=True)
(small * 2).to_padded_tensor(0.0).sum().backward()
print(small.grad)
for _ in range(2):
    large.grad = None  # torch cannot add to it
    (large.to_padded_tensor(0.0) * weight).sum().backward()
print(weight.grad, large.grad[1].sum())
torch.optim.SGD([small, weight], lr=0.5).step()
print(small.detach()[1], weight)
small.grad = None
(small * small).to_padded_tensor(0.0).sum().backward()
print(small.grad)
