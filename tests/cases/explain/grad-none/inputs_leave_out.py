import torch

a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
loss = (a * b).sum()
loss.backward(inputs=[a])
print(a.grad, b.grad)
