import torch

scale = torch.tensor([0.5, 1.0], requires_grad=True)
basis = scale.exp()
for target in (1.0, 2.0):
    loss = ((basis * 2 - target) ** 2).sum()
    loss.backward()
    print(target, scale.grad)
