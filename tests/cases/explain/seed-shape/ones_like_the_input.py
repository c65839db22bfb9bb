import torch

rows = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
table = torch.ones(3, 4)
product = rows @ table
product.backward(torch.ones_like(rows))
