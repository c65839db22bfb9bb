import torch
import torch.nn as nn
import torch.nn.functional as F

x = torch.randn(2, 3, requires_grad=True)
y = F.softmax(x)
z = F.sigmoid(y)
y[0, 0].backward()
