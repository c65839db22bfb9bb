import torch

scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
mask = torch.tensor([[True, False], [True, True]])
attention = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=1)
attention[:, 0].sum().backward()
print(scores.grad)
