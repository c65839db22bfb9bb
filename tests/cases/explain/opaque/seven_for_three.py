import torch

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return torch.ones(7)

x = torch.ones(3, requires_grad=True)
Square.apply(x).sum().backward()
