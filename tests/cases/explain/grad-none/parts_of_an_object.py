import torch
import torch.nn as nn

class Wrapper:
    def __init__(self):
        self.net = nn.Linear(2, 1)
        self.extra = nn.Linear(2, 1)

    def loss(self, x):
        return self.net(x).sum()

m = Wrapper()
m.loss(torch.ones(1, 2)).backward()
print(m.net.weight.grad, m.extra.weight.grad)
