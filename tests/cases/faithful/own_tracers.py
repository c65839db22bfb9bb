"""Sets trace and profile functions of its own, as debuggers and coverage do."""
import sys
import threading

import torch

seen = []


def trace(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        seen.append((event, frame.f_lineno))
        return trace
    return None


def work(x):
    y = x * 2
    return y.sum()


x = torch.ones(2, requires_grad=True)
before = work(x)
sys.settrace(trace)
middle = work(x)
sys.settrace(None)
print(seen)
after = work(x)
(before + middle + after).backward()
print(x.grad.tolist())


def local_names(a):
    taken = locals()
    b = a * 2
    c = b + 1
    return sorted(taken), c


print(local_names(x)[0])


def counter():
    total = 0

    def add():
        nonlocal total
        total += 1

    threads = [threading.Thread(target=lambda: [add() for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total


print(counter())
