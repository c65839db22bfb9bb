import torch


def energy_slope(field):
    energy = field ** 2
    energy.backward(field)
    return field.grad


print(energy_slope(torch.tensor([1.0, 2.0], requires_grad=True)))
