import torch
from torch import nn
torch.manual_seed(0)
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.saved_log_probs = []
        self.rewards = []
    def forward(self, x):
        return torch.softmax(self.fc(x), -1)
policy = Policy()
def act(s):
    m = torch.distributions.Categorical(policy(s))
    a = m.sample()
    policy.saved_log_probs.append(m.log_prob(a).item())
    return a.item()
def finish():
    R = torch.tensor(policy.rewards)
    loss = (-torch.tensor(policy.saved_log_probs) * R).sum()
    loss.backward()
for t in range(3):
    act(torch.randn(4))
    policy.rewards.append(1.0)
finish()
#
