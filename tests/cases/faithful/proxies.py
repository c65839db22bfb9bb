"""Lazy objects compute their class: whoever looks at one with `isinstance` makes it do its work."""
import torch

looks = []


class Lazy:
    @property
    def __class__(self):
        looks.append("class")
        return torch.Tensor

    def __getattr__(self, name):
        looks.append(name)
        raise AttributeError(name)


class Outside:
    """As a proxy of a web framework, with nothing behind it."""

    @property
    def __class__(self):
        raise RuntimeError("outside of its context")


lazy = Lazy()
held = {"deep": [lazy, Outside()]}


def step(thing, other, x):
    here = thing
    inner = lambda: (here, other)
    for each in [Outside(), thing]:
        y = (x * 2).sum()
    y.backward()
    return inner


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.lazy = lazy

    def forward(self, x):
        outside = Outside()
        return (x * self.w).sum()


x = torch.ones(3, requires_grad=True)
step(lazy, Outside(), x)
model = Model()
model(torch.ones(2)).backward()
many = [Lazy() for _ in range(300)]
(x * 3).sum().backward()
print(x.grad.tolist(), model.w.grad.tolist(), looks)
