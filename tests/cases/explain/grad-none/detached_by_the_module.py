import torch
from torch import nn
torch.manual_seed(0)
class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.policy = nn.Linear(8, 2)
        self.value = nn.Linear(8, 1)
    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.policy(h), self.value(h).detach()
net = TwoHeads()
opt = torch.optim.Adam(net.parameters())
logits, value = net(torch.randn(6, 4))
loss = nn.functional.cross_entropy(logits, torch.randint(0, 2, (6,))) + value.pow(2).mean()
opt.zero_grad()
loss.backward()
for p in net.parameters():
    p.grad.data.clamp_(-1, 1)
opt.step()
#
