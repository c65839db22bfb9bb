import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.square = square
        return square * x

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.square * g


x = torch.tensor([2.0], requires_grad=True)
y = Cube.apply(x).pow(2).sum()
(g,) = torch.autograd.grad(y, x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
print(g, h)
