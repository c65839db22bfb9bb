import torch
import torch.nn.functional as F

x = torch.tensor([-1.0, 2.0], requires_grad=True)
h = torch.sigmoid(x)
y = F.relu(h, inplace=True)
y.sum().backward()
