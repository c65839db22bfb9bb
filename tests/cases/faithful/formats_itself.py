"""Formats tracebacks and stacks itself, as loggers do; warns with several stack levels."""
import logging
import sys
import traceback
import warnings

import torch

logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(funcName)s %(lineno)d %(message)s")


def deep(n, x):
    if n == 0:
        x.backward()
    else:
        deep(n - 1, x)


for seed in (None, torch.ones(2)):
    try:
        deep(3, torch.ones(3, requires_grad=True) * 2)
    except RuntimeError:
        logging.exception("caught")
        kind, error, trace = sys.exc_info()
        while trace is not None:
            print(trace.tb_frame.f_code.co_name, trace.tb_lineno)
            trace = trace.tb_next


def complain(level):
    warnings.warn(f"level {level}", stacklevel=level)


for level in (1, 2, 3, 4):
    complain(level)
w = torch.ones(2, requires_grad=True)
u = w * 2
u.sum().backward(retain_graph=True)
u.grad
print("".join(traceback.format_stack()))
w.register_hook(lambda g: print("hook", g))
u.sum().backward()
