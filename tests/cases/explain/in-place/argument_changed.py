import torch
w = torch.tensor([1., 2.], requires_grad=True)
def update(state, w):
    out = state * w
    state.add_(1.0)
    return out
s = torch.zeros(2)
total = 0
for i in range(3):
    total = total + update(s, w).sum()
total.backward()
