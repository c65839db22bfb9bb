import torch

weight = torch.tensor([1.0, 2.0], requires_grad=True)
(weight ** 2).sum().backward()
weight -= 0.1 * weight.grad
