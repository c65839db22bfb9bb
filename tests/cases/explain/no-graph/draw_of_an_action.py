import torch

logits = torch.zeros(3, requires_grad=True)
dist = torch.distributions.Categorical(logits=logits)
a = dist.sample()
reward = (a.float() - 1) ** 2
reward.backward()
