"""A value that backward needs is overwritten: the node that saved it, and the line that wrote."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

y = torch.sigmoid(x)
y[1] = 0.0

y.sum().backward()
