import torch

w = torch.ones(2, requires_grad=True)
ema = torch.zeros(())
for step in range(5):
    loss = ((w * step) ** 2).sum()
    ema = 0.9 * ema + 0.1 * loss
    loss.backward()
    w.grad = None
print(ema)
