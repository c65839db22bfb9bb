"""One weight used at every step: its gradient is the sum over the steps."""
import torch

w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)

for step in range(4):
    h = torch.tanh(w * h + 1.0)

h.backward()

print(w.grad)
