import torch
class M:
    def __init__(self): self.w = torch.ones(2, requires_grad=True)
    def fit(self):
        for i in range(2):
            (self.w ** 2).sum().backward()
            with torch.no_grad():
                self.w = self.w - 0.1 * self.w.grad
            self.w.requires_grad = True
            self.w.grad.zero_()
M().fit()
