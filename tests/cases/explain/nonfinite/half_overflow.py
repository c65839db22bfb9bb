import torch

x = torch.tensor([300.0, 10.0], dtype=torch.float16, requires_grad=True)
y = x * x
loss = y.sum()
loss.backward()
