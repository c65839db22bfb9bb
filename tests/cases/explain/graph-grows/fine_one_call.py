import torch

w = torch.ones(2, requires_grad=True)
total = torch.zeros(())
losses = []
for i in range(4):
    part = ((w * i) ** 2).sum()
    losses.append(part)
    total = total + part
total.backward()
print(torch.stack(losses).mean().item())
