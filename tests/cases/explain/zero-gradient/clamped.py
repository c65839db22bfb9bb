import torch

gain = torch.tensor([5.0, -7.0], requires_grad=True)
limited = gain.clamp(-1.0, 1.0)
(limited * 3.0).sum().backward()
print(gain.grad)
