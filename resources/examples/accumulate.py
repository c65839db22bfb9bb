"""Two backward calls: .grad of a leaf adds up, and retain_grad() keeps what an intermediate received."""
import torch

t1 = torch.tensor(3.0, requires_grad=True)

t2 = t1 * 4
t2.retain_grad()

t2.backward(retain_graph=True)

t3 = t2 * 5
t3.retain_grad()

t3.backward()

for name, tensor in (("t1", t1), ("t2", t2), ("t3", t3)):
    print(f"{name}: value {tensor.item()}, gradient {tensor.grad.item()}")
