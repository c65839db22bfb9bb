import torch

angles = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
mixed = torch.stack([angles.sum(), angles.prod()])
mixed.backward(torch.ones(2))
print(angles.grad)
