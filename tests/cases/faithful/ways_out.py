"""Leaves through atexit, with a backward there, in a thread before, and a status of its own."""
import atexit
import signal
import sys
import threading

import torch

x = torch.tensor(3.0, requires_grad=True)


@atexit.register
def last():
    (x**3).backward()
    print("at exit", x.grad.item())


def in_thread():
    (x**2).backward()


thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
signal.signal(signal.SIGUSR1, lambda number, frame: print("signal", frame.f_code.co_name))


def waits():
    signal.raise_signal(signal.SIGUSR1)


waits()
sys.exit(5)
