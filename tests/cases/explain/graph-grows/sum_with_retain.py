import torch

w = torch.tensor([0.5], requires_grad=True)
total = 0
for step in range(5):
    loss = (w * step - 1) ** 2
    total = total + loss
    total.sum().backward(retain_graph=True)
    w.grad = None
