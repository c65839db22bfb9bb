import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
y.backward(torch.tensor([1, 0, 0]))
