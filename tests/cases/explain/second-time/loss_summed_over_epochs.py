import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
loss = 0
for epoch in range(3):
    for i in range(2):
        loss = loss + net(torch.randn(4, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
