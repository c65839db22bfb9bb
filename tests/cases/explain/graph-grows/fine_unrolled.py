import torch
x = torch.tensor([1., 2.], requires_grad=True)
for i in range(3):
    y = (x ** 2).sum()
    g, = torch.autograd.grad(y, x, create_graph=True)
    x = x - 0.1 * g
print(torch.autograd.grad(x.sum(), x))
