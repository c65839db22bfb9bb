import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(4, 4)
        self.dec = nn.Linear(4, 1)
        self.unused = nn.Linear(4, 2)

    def forward(self, x):
        return self.dec(torch.relu(self.enc(x)))

torch.manual_seed(0)
model = Net()
loss = model(torch.randn(8, 4)).mean()
loss.backward()
for name, param in model.named_parameters():
    print(name, param.grad)
