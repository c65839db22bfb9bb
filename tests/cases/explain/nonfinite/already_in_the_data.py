import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
data = torch.tensor([float("nan"), 1.0], requires_grad=True)
loss = (w * data).sum()
loss.backward()
print(w.grad)
