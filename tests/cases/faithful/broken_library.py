"""Puts something else in the place of functions of the standard library, as mocks do, and ends with them in place."""

import builtins
import json
import os
import struct
import time

import torch

x = torch.ones(2, requires_grad=True)


def refuse(*arguments, **named):
    raise PermissionError("not in this test")


def loss():
    return (x * 2).sum()


kept = builtins.open
builtins.open = refuse
loss().backward()
builtins.open = kept
time.time = time.perf_counter = lambda: 0.0
loss().backward()
print(x.grad)
json.dumps = None
os.path.abspath = os.path.dirname = refuse
struct.pack = refuse
loss().backward()
loss().backward()
print(x.grad)
(x * 3).backward()
