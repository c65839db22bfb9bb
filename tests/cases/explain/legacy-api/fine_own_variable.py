import torch

class Variable:
    def __init__(self, data):
        self.data = data

v = Variable([1.0, 2.0])
x = torch.tensor(v.data, requires_grad=True)
x.sum().backward()
