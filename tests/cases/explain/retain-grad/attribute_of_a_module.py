import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Linear(3, 1)

    def forward(self, x):
        self.hidden = torch.relu(self.a(x))
        return self.b(self.hidden)

net = Net()
net(torch.randn(4, 2)).sum().backward()
print(net.hidden.grad)
