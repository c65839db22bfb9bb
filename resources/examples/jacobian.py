"""One seed gives one row of the Jacobian; functional.jacobian asks for all of them."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def f(t):
    return torch.stack([t[0] * t[1], t[1] * t[2]])


y = f(x)
rows = [torch.autograd.grad(y, x, seed, retain_graph=True)[0] for seed in torch.eye(2)]

print(torch.stack(rows))
print(torch.autograd.functional.jacobian(f, x))
