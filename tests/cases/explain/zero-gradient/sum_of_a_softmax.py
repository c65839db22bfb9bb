import torch

x = torch.randn(3, 4, requires_grad=True)
p = torch.softmax(x, dim=1)
loss = p.sum()  
loss.backward()
print(x.grad)
