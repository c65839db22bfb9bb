import torch
import torch.nn as nn

class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.sign(x)

    @staticmethod
    def backward(ctx, g):
        with torch.no_grad():
            return g * 1.0

x = torch.tensor([0.5, -2.0], requires_grad=True)
y = (Sign.apply(x) * x).sum()
gx, = torch.autograd.grad(y, x, create_graph=True)
gx.sum().backward()
print(x.grad)
