import torch

class Linear(torch.autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        return x * 2

    def backward(self, g):
        return g * 2

x = torch.ones(3, requires_grad=True)
y = Linear()(x)
y.sum().backward()
