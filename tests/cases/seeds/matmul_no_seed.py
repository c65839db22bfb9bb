import torch

A = torch.tensor([[1.0, 2.0]], requires_grad=True)
B = torch.tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]], requires_grad=True)
Z = A @ B

Z.backward()
