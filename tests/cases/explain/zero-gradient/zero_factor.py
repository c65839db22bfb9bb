import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([0.0, 0.0], requires_grad=True)
y = (x * w).sum()  
y.backward()
print(x.grad, w.grad)
