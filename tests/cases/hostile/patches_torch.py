"""Replaces the ways into the engine by functions of its own."""
import torch

calls = []
original = torch.Tensor.backward


def counting(self, *args, **kwargs):
    calls.append(tuple(self.shape))
    return original(self, *args, **kwargs)


torch.Tensor.backward = counting
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x**2).sum().backward()
before = torch.autograd.backward
torch.autograd.backward = lambda *a, **k: print("swallowed")
(x**2).sum().backward()
torch.autograd.backward = before
(x**2).sum().backward()
print(calls, x.grad.tolist())
