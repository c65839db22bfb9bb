import torch


class Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, bias):
        return table + bias

    @staticmethod
    def backward(ctx, g):
        return g, torch.ones(7)


table = torch.zeros(4, 3, requires_grad=True)
bias = torch.zeros(3, requires_grad=True)
Rows.apply(table, bias).sum().backward()
