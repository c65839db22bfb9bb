"""Ignores every polite signal, with a child that does the same, and sleeps."""
import os
import signal
import time

import torch

for name in ("SIGTERM", "SIGINT", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
weight = torch.tensor([2.0], requires_grad=True)
(weight**3).backward()
child = os.fork()
if child:
    print("child", child, flush=True)
while True:
    time.sleep(60)
