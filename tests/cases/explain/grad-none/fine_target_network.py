import torch
import torch.nn as nn

torch.manual_seed(0)
policy, target = nn.Linear(3, 2), nn.Linear(3, 2)
target.load_state_dict(policy.state_dict())
opt = torch.optim.Adam(policy.parameters())
for i in range(3):
    s, s2, r = torch.randn(5, 3), torch.randn(5, 3), torch.randn(5)
    q = policy(s)[:, 0]
    with torch.no_grad():
        y = r + 0.9 * target(s2).max(1).values
    loss = nn.functional.smooth_l1_loss(q, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
