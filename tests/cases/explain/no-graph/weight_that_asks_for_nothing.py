import torch, torch.nn as nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.randn(2, 1)
    def forward(self, x): return x @ self.w
net = Net()
loss = nn.MSELoss()(net(torch.randn(3, 2)), torch.zeros(3, 1))
loss.backward()
