"""An autograd.Function of one's own is one node; its backward is the Python that you wrote."""
import torch


class ClippedExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, limit):
        result = value.exp().clamp(max=limit)
        ctx.save_for_backward(result)
        ctx.limit = limit
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result * (result < ctx.limit), None


x = torch.tensor([0.0, 1.0, 5.0], requires_grad=True)

y = ClippedExp.apply(x, 20.0)
y.sum().backward()

print(x.grad)
