import torch
from torch.autograd import Variable

x = Variable(2 * torch.ones(2, 2), requires_grad=True)
x.backward(x)
print(x.grad)
