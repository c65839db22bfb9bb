import numpy as np
import torch
class Sin(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        a = x.detach().numpy()
        ctx.cos = np.cos(a)
        return torch.as_tensor(np.sin(a))
    @staticmethod
    def backward(ctx, grad_out):
        return grad_out * torch.as_tensor(ctx.cos)
def hessian(x):
    y = Sin.apply(x).sum()
    first, = torch.autograd.grad(y, x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)
print(hessian(torch.tensor([0.1, 0.2], requires_grad=True)))
