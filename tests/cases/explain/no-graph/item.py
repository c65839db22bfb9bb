import torch

a = torch.tensor(2.0, requires_grad=True)
square = a ** 2
value = square.item()
loss = torch.tensor(value * 3)
loss.backward()
