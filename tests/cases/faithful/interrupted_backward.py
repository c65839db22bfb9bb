"""Is interrupted a hundred times between and inside its backward calls, and looks at each traceback."""
import os
import signal
import traceback

import torch

x = torch.ones(2, requires_grad=True)
files = set()


def busy():
    while True:
        y = x
        for _ in range(20):
            y = (y * 1.5).sin()
        y.sum().backward()


reader, writer = os.pipe()
parent = os.getpid()
child = os.fork()
if child == 0:
    os.close(writer)  # so that it ends with its parent, however that ends
    turn = 0
    while os.read(reader, 1):
        turn += 1
        for _ in range(2_000 + 977 * (turn % 61)):
            pass
        os.kill(parent, signal.SIGINT)
    os._exit(0)
for _ in range(100):
    try:
        os.write(writer, b".")
        busy()
    except KeyboardInterrupt as error:
        files |= {entry.filename for entry in traceback.extract_tb(error.__traceback__)}
os.close(writer)
os.waitpid(child, 0)
ours = [os.path.join("gradviz", part) for part in ("worker", "store", "model", "protocol")]
called = ("contextlib.py", "copy.py", "dataclasses.py", "encoder.py")  # of a recorder, and of nothing in this file
print([file for file in files if os.path.basename(file) in called or any(part in file for part in ours)])
x.grad = None
(x * 3).sum().backward()
print(x.grad.tolist())
