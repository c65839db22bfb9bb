"""Chains of 60,000 operations: released in the main thread, in another thread, and without any backward."""
import resource
import subprocess
import sys
import threading

import torch

limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
x = torch.ones(1, requires_grad=True)
y = x
for _ in range(60_000):
    y = y * 1.0
y.backward()
del y


def work():
    z = x
    for _ in range(60_000):
        z = z * 1.0
    z.backward()
    del z


thread = threading.Thread(target=work)
thread.start()
thread.join()
never = x
for _ in range(60_000):
    never = never + 1
del never
asks = "import resource; print(resource.getrlimit(resource.RLIMIT_STACK)[0])"
told = int(subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True).stdout)
print("gradient", x.grad.item(), "same limit for children", told == limit, threading.stack_size())
