import torch
import torch.nn as nn

def double(module, grad_input, grad_output):
    return tuple(2 * g if g is not None else None for g in grad_input)

net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
net[1].register_full_backward_hook(double)
net(torch.ones(1, 2)).sum().backward()
