import torch, torch.nn as nn
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = torch.randn(3, 2, requires_grad=True) * 0.1
        self.out = nn.Linear(2, 1)
    def forward(self, i): return self.out(self.emb[i])
m = Model()
m(torch.tensor([0, 1])).sum().backward()
print(m.emb.grad)
