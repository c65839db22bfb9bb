"""Fails inside the engine, in a backward of the script's own, while handling another exception."""
import torch


class Fragile(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        try:
            {}["missing"]
        except KeyError:
            raise ArithmeticError("no way back")


def step(x):
    return Fragile.apply(x).sum()


value = step(torch.ones(3, requires_grad=True))
value.backward()
