"""Is interrupted forty times in the middle of its lines, and looks at each traceback."""
import os
import signal
import traceback

import torch

x = torch.ones(2, requires_grad=True)
files = set()


def busy():
    while True:
        y = x * 2
        z = y + 1
        del z


reader, writer = os.pipe()
parent = os.getpid()
child = os.fork()
if child == 0:
    os.close(writer)  # so that it ends with its parent, however that ends
    while os.read(reader, 1):
        for _ in range(20_000):
            pass
        os.kill(parent, signal.SIGINT)
    os._exit(0)
for turn in range(40):
    try:
        os.write(writer, b".")
        busy()
    except KeyboardInterrupt as error:
        files |= {entry.filename for entry in traceback.extract_tb(error.__traceback__)}
        assert error.__context__ is None
os.close(writer)
os.waitpid(child, 0)
print([os.path.basename(file) for file in files])
after = x * 3
after.sum().backward()
