import torch

base = torch.tensor(3.0, requires_grad=True)
once = base * 4
once.backward(retain_graph=True)
twice = once * 5
twice.backward()
print(base.grad)
