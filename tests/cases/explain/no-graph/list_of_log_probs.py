import torch
from torch import nn
torch.manual_seed(0)
policy = nn.Linear(4, 2)
log_probs = []
for t in range(3):
    dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
    action = dist.sample()
    log_probs.append(dist.log_prob(action))
loss = -torch.tensor(log_probs).sum()
loss.backward()
