import torch
import torch.nn as nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
log = {"loss": []}
for i in range(5):
    opt.zero_grad()
    loss = net(torch.ones(1, 2)).pow(2).mean()
    loss.backward()
    opt.step()
    log["loss"].append(loss)
