import torch, torch.nn as nn
torch.manual_seed(0)
a, b = nn.Linear(2, 2), nn.Linear(2, 2)
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], 0.1)
for i in range(2):
    h = a(torch.ones(1, 2))
    h2 = b(h.data)
    loss = h.sum() + h2.detach().sum()
    opt.zero_grad(); loss.backward(); opt.step()
