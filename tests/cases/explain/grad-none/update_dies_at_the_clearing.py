import torch
w = torch.tensor([1., 2.], requires_grad=True)
for i in range(2):
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad(): w = w - 0.1 * w.grad
    w.grad.zero_()
