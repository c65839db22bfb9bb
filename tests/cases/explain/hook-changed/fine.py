import torch

seen = []
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.register_hook(lambda g: seen.append(g.norm().item()))
x.register_hook(lambda g: print("arrived", g))
y.sum().backward()
print(seen, x.grad)
