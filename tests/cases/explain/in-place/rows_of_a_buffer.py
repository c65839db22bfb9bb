import torch

T, H = 4, 3
W = torch.randn(H, H, requires_grad=True)
h = torch.zeros(T + 1, H)
for t in range(T):
    h[t + 1] = torch.tanh(h[t] @ W)
loss = h.sum()
loss.backward()
