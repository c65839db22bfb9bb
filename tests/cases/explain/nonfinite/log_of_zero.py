import torch

p = torch.tensor([0.0, 0.5], requires_grad=True)
entropy = -(p * torch.log(p)).sum()
entropy.backward()
print(p.grad)
