"""A vector has no single gradient: the seed says which combination of its elements is meant."""
import torch

A = torch.tensor([[1.0, 2.0]], requires_grad=True)
B = torch.tensor([[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]], requires_grad=True)

Z = A @ B

# Only the first element of Z: its row of the Jacobian.
Z.backward(torch.tensor([[1.0, 0.0, 0.0]]))

print("A.grad", A.grad)
print("B.grad", B.grad)
