"""An update by hand that dies at a weight which is no leaf."""

import torch
import torch.nn.functional as F

W = torch.randn((27, 27), requires_grad=True) * 0.1
b = torch.zeros(27, requires_grad=True)
X = torch.randint(0, 27, (8,))
Y = torch.randint(0, 27, (8,))
for i in range(3):
    logits = F.one_hot(X, 27).float() @ W + b
    loss = F.cross_entropy(logits, Y)
    for p in [W, b]:
        p.grad = None
    loss.backward()
    for p in [W, b]:
        p.data += -0.1 * p.grad
