import torch
import torch.nn as nn

conv = nn.Conv2d(1, 2, 3)
img = torch.rand(1, 1, 5, 5)
feat = conv(img)
score = feat.mean()
score.backward()
weights = feat.grad.mean(dim=(2, 3))
