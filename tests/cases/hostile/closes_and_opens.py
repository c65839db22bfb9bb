"""Closes every descriptor it can find between two calls, then opens files of its own and fills them."""
import os
import sys

import torch

folder = sys.argv[1]
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
keep = os.dup(1)
for number in range(3, 1024):
    if number != keep:
        try:
            os.close(number)
        except OSError:
            pass
files = [open(os.path.join(folder, f"mine{n}.bin"), "wb") for n in range(420)]
for turn in range(3):
    for n, file in enumerate(files):
        file.write(bytes([n % 256]) * 97)
        file.flush()
    (x * x * turn).sum().backward()
for file in files:
    file.close()
print(x.grad.tolist())
