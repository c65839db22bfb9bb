import torch
from torch.autograd import Variable

x = Variable(torch.ones(2), requires_grad=True)
loss = (x * 2).sum()
loss.backward()
print(loss.data[0])
