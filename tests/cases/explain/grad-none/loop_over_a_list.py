"""An update by hand that dies at the one parameter without the flag."""

import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(1)
C = torch.randn((27, 4), generator=g)
W1 = torch.randn((12, 6), generator=g) * 0.1
b1 = torch.randn(6, generator=g)
W2 = torch.randn((6, 27), generator=g)
b2 = torch.randn(27, generator=g)
parameters = [C, W1, b1, W2]
for p in parameters:
    p.requires_grad = True
parameters = [C, W1, b1, W2, b2]
X = torch.randint(0, 27, (8, 3))
Y = torch.randint(0, 27, (8,))
lr = 0.1
for i in range(3):
    emb = C[X]
    h = torch.tanh(emb.view(8, -1) @ W1 + b1)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Y)
    for p in parameters:
        p.grad = None
    loss.backward()
    for p in parameters:
        p.data += -lr * p.grad
    print(loss.item())
