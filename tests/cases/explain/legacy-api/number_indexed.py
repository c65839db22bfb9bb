import torch
losses = torch.ones(3, requires_grad=True)
y = (losses * losses).sum()
y.backward()
print("total %.3f first %.3f" % (y[0], losses.grad[0]))
