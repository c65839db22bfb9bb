import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
scaler.scale((w ** 2).sum()).backward()
torch.nn.utils.clip_grad_norm_([w], 1.0)
scaler.step(optimizer)
scaler.update()
