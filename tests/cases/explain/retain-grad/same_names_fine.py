"""`x` is the leaf, an argument, a class attribute and the variable of a comprehension; only the leaf is read."""

import torch

x = torch.tensor(3.0, requires_grad=True)


class Layer:
    x = torch.tensor(1.0, requires_grad=True) * 2

    def run(self, x):
        x = x * 2
        return x


y = Layer().run(x)
z = sum(x * 2 for x in [y, y])
z.backward()
print(x.grad)
print([x.grad for x in [x]])
