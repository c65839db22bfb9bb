"""One tensor used twice: the two contributions arrive one by one and are added."""
import torch

x = torch.tensor(2.0, requires_grad=True)

y = x * 3
a = y * 2
b = y * 5
loss = a + b

loss.backward()

print(x.grad)
