"""A function rebinds the global leaf."""

import torch
w = torch.tensor([1., 2.], requires_grad=True)
def train():
    global w
    loss = (w ** 2).sum()
    loss.backward()
    w = w - 0.1 * w.grad
train()
print(w.grad)
