import torch

x = torch.randn(3, requires_grad=True)
y = (x * 3).sum()
y.grad_fn.register_hook(lambda gi, go: tuple(2 * g for g in gi))
y.backward()
print(x.grad)
