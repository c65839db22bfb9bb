import torch
x = torch.ones(2, requires_grad=True)
h1 = x * 2
h2 = h1 + 1
h2.sum().backward()
for p in [h1, h2]:
    print(p.grad)
