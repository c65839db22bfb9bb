import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
f = (x[0] ** 2 * x[1]).sum()
g, = torch.autograd.grad(f, x)
H = torch.stack([torch.autograd.grad(gi, x, retain_graph=True)[0] for gi in g])
