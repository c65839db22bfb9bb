import torch

x = torch.tensor([2.0], requires_grad=True)
loss = x ** 3
loss.backward()
print("first", x.grad)
loss.backward()
