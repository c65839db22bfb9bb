import torch

class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.a, ctx.b = a, b
        return a * b

    @staticmethod
    def backward(ctx, g):
        return g * ctx.b, g * ctx.a, g

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
Mul.apply(a, b).sum().backward()
