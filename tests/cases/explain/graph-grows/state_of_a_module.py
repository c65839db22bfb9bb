import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 3)
        self.hidden = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))

    def forward(self, x):
        out, self.hidden = self.lstm(x, self.hidden)
        return out.mean()

m = Model()
for i in range(4):
    loss = m(torch.randn(2, 1, 1))
    loss.backward(retain_graph=True)
