import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
one = (x * x).sum().reshape(1)
one.backward(torch.ones(1))
x.grad = None
y = torch.stack([x.sum(), x.prod()])
y.backward(torch.tensor([0.0, 1.0]))
x.grad = None
first, second = x.sum(), (x ** 2).sum()
torch.autograd.backward([first, second])
print(x.grad)
