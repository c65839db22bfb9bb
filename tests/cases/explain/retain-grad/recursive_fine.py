"""The function calls its argument as the file calls the leaf."""

import torch
x = torch.tensor(1.0, requires_grad=True)
def f(x):
    y = x * 3
    return y
y = f(x) ** 2
y.backward()
print(x.grad)
print([y.grad for y in (x,)])
