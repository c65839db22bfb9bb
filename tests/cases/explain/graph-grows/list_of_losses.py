import torch
import torch.nn as nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
losses = []
for step in range(6):
    loss = net(torch.randn(3, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss)
print(sum(losses))
