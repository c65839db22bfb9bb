import torch
import torch.nn as nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 3, padding=1)
        self.conv2 = nn.Conv2d(2, 2, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        h = torch.sigmoid(self.conv1(x))
        out = self.relu(h)
        return self.conv2(out)

model = Block()
loss = model(torch.randn(1, 1, 4, 4)).mean()
loss.backward()
