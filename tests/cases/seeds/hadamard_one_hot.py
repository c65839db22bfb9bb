import torch

A1 = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
B1 = torch.tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]], requires_grad=True)
Z1 = A1 * B1
G1 = torch.zeros_like(Z1)
G1[1, 0] = 1
Z1.backward(gradient=G1)
print(Z1.shape, A1.grad, B1.grad)
