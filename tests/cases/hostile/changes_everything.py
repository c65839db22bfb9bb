"""Removes its working directory and empties or replaces what a process has: path, arguments, environment, streams."""
import gc
import os
import shutil
import sys
import tempfile

import torch

x = torch.tensor(2.0, requires_grad=True)
folder = tempfile.mkdtemp()
os.chdir(folder)
(x**2).backward()
shutil.rmtree(folder)
(x**3).backward()
sys.path.clear()
sys.argv.clear()
os.environ.clear()
sys.meta_path.clear()
for name in [name for name in sys.modules if name.startswith(("sqlite3", "gradviz", "socket"))]:
    del sys.modules[name]
gc.disable()
sys.stdout = open(os.devnull, "w")
(x**4).backward()
sys.stderr.write(f"gradient {x.grad.item()} {gc.isenabled()}\n")
