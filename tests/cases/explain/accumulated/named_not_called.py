import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(4, 2)
for i in range(3):
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
    opt.zero_grad
