import torch
import torch.nn as nn

D = nn.Linear(2, 1)
one = torch.FloatTensor([1])
D_real = D(torch.randn(4, 2)).mean()
D_real.backward(one)
