import torch

A11 = torch.tensor([[0.1, 0.2], [1.0, 2.0]], requires_grad=True)
B11 = torch.tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]], requires_grad=True)
Z11 = torch.mm(A11, B11)
G11 = torch.zeros_like(Z11)
G11[1, 0] = 1
Z11.backward(G11, retain_graph=True)
print(Z11.shape, A11.grad, B11.grad)
