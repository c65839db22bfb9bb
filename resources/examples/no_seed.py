"""The error that everybody meets first: backward() on a tensor with more than one element."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * x

y.backward()
