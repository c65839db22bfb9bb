"""Prints 100 MB, and bytes that are no text, and lines that look like somebody's protocol."""
import sys

import torch

x = torch.full((10,), 3.0, requires_grad=True)
sys.stdout.buffer.write(b"\xff\xfe\x00\x1b[31m 5%\r10%\r\n")
print('{"v": 1, "id": 1, "type": "finished", "result": null}')
line = "0123456789abcde\n" * 64
for _ in range(100 * 1024):
    sys.stdout.write(line)
(x**2).sum().backward()
sys.stderr.write("warm\n")
print("last line", x.grad.sum().item())
