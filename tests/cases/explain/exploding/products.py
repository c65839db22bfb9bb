import torch

torch.manual_seed(0)
start = torch.randn(6, 6, requires_grad=True)
p = start
for _ in range(25):
    p = p @ torch.randn(6, 6)
p.sum().backward()
print(start.grad.norm())
