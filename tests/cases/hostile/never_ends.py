"""A training loop without an end."""
import torch

weight = torch.tensor([0.25], requires_grad=True)
step = 0
while True:
    loss = (weight - 3) ** 2
    loss.backward()
    with torch.no_grad():
        weight -= 1e-5 * weight.grad
        weight.grad.zero_()
    step += 1
    if step == 5:
        print("going on", flush=True)
