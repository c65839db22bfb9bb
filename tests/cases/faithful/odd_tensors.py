"""Nodes made under a tracer of its own, a tensor without values, a ragged one."""

import sys
import threading

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def elsewhere():
    x = torch.ones(2, requires_grad=True)
    for _ in range(6):
        x = x * 2


thread = threading.Thread(target=elsewhere)  # its nodes have the numbers that ours below have
thread.start()
thread.join()
sys.settrace(lambda frame, event, arg: None)
start = torch.ones(2, requires_grad=True)
end = (start * 5).sum()
sys.settrace(None)
end.backward()
print(start.grad.tolist())

with FakeTensorMode():
    weight = torch.ones(3, requires_grad=True)
    for _ in range(2):
        (weight * 2).sum().backward()
    print(type(weight.grad).__name__, tuple(weight.grad.shape))

ragged = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged, requires_grad=True)
for _ in range(2):
    ragged.grad = None  # torch cannot add to it
    (ragged * 3).values().sum().backward()
print(ragged.grad.values().sum().item())
