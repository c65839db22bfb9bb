import torch
w = torch.tensor([1., 2.], requires_grad=True)
for i in range(2):
    loss = (w ** 2).sum()
    loss.backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_()
    w.grad.zero_()
