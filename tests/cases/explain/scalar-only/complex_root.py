import torch

w = torch.tensor(2 + 1j, requires_grad=True)
response = w * w + 1
response.backward()
