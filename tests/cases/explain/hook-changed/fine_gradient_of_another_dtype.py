import torch
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0.1
    @staticmethod
    def backward(ctx, g):
        return g.double() * 0.1
x = torch.randn(3, requires_grad=True)
Scale.apply(x * 2).sum().backward()
print(x.grad)
