"""Runs out of memory, in a list of its own, in torch, and with a backward in what is left; ends by it."""
import resource

import torch

x = torch.ones(20_000, requires_grad=True)
(x * 2).sum().backward()
torch.ones(1 << 22).sum()  # torch makes its threads now
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (96 << 20), resource.RLIM_INFINITY))
try:
    torch.ones(1 << 30)
except RuntimeError as error:
    print(type(error).__name__, "allocate" in str(error))
hoard = []
try:
    while True:
        hoard.append(bytearray(1 << 16))
except MemoryError:
    del hoard[-64:]
(x * 3).sum().backward()
print(x.grad[:2].tolist(), len(hoard) > 100, flush=True)
while True:
    hoard.append(bytearray(1 << 16))
