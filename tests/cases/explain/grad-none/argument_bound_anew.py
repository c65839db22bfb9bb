import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(12, 5))
def saliency(img):
    img.requires_grad_()
    img = img.unsqueeze(0)
    model(img).max().backward()
    return img.grad.abs()
print(saliency(torch.rand(3, 2, 2)))
