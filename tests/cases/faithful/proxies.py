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


# -- classes whose own class runs code, and a proxy that computes its dict -------------------------------------------------


class Meta(type):
    def __eq__(cls, other):
        raise RuntimeError("a class was compared")

    def __hash__(cls):
        raise TypeError("a class has no hash")

    def __getattr__(cls, name):
        looks.append(f"class.{name}")
        raise AttributeError(name)

    def __getattribute__(cls, name):
        if name not in ("__dict__", "__name__", "__qualname__", "__mro__", "__bases__"):
            looks.append(f"class {name}")
        return type.__getattribute__(cls, name)


class Strict(metaclass=Meta):
    def __eq__(self, other):
        raise RuntimeError("compared")

    __hash__ = None

    def __bool__(self):
        raise RuntimeError("asked for its truth")

    def __len__(self):
        raise RuntimeError("asked for its length")

    def __repr__(self):
        raise RuntimeError("printed")


class Local:
    __slots__ = ("_find",)

    @property
    def __dict__(self):
        raise RuntimeError("outside of its context")


looks.clear()
strict = Strict()
strict.weight = torch.ones(2, requires_grad=True)
local = Local()
model.kept = [strict, local, {"k": strict}, (strict, local)]
step(strict, local, x)
model.other = local
model(torch.ones(2)).backward()
(strict.weight * 2).sum().backward()
print(looks)
