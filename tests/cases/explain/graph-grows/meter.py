import torch
import torch.nn as nn

class Meter:
    def __init__(self):
        self.sum = 0
        self.n = 0

    def update(self, v):
        self.sum += v
        self.n += 1

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
meter = Meter()
for i in range(5):
    opt.zero_grad()
    loss = net(torch.ones(1, 2)).pow(2).mean()
    loss.backward()
    opt.step()
    meter.update(loss)
print(meter.sum / meter.n)
