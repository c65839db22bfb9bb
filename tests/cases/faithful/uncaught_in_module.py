"""Fails in a module's forward: the traceback goes through torch's own frames."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(2, 1))
print("before", flush=True)
net(torch.ones(5, 4)).sum().backward()
