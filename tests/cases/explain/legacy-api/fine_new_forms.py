import torch
import torch.nn.functional as F

x = torch.randn(2, 3, requires_grad=True)
y = F.softmax(x, 1)
y = y + F.log_softmax(x, dim=1)
mask = x > 0
a = torch.add(x, x, alpha=2)
loss = (y * ~mask).sum() + a.mean() + next(iter([x.sum()]))
loss.backward()
