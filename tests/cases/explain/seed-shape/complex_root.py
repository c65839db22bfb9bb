import torch

z = torch.tensor([1 + 1j, 2 - 1j], requires_grad=True)
w = z * 2
w.backward(torch.ones(2))
