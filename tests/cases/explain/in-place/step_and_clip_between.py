import torch
from torch import nn
torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
gen = nn.Linear(3, 2)
opt = torch.optim.RMSprop(critic.parameters())
score = critic(gen(torch.randn(4, 3))).mean()
(critic(torch.randn(4, 2)).mean() - score).backward(retain_graph=True)
opt.step()
for p in critic.parameters():
    p.data.clamp_(-0.01, 0.01)
(-score).backward()
