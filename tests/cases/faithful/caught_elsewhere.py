"""Errors of the engine that code of no file, or of a library, catches and prints."""

import code
import concurrent.futures
import sys
import traceback
import unittest

import torch

x = torch.ones(2, requires_grad=True)
space = {"x": x, "torch": torch}
typed = code.InteractiveInterpreter(space)
typed.runsource("(x * 2).backward()")
typed.runsource("torch.autograd.grad((x * 2), x)")
typed.runsource("torch.autograd.functional.jacobian(lambda t: t.item(), x)")
typed.runsource("torch.autograd.Variable._execution_engine.run_backward((x.sum(),), (None,), False, False, (), False)")
typed.runsource("torch.nn.utils.clip_grad_norm_([x], 'a')")
typed.runsource("torch.utils.swap_tensors(x, 3)")
typed.runsource("x.detach().retain_grad()")
exec(
    """
import traceback
try:
    (x * 2).backward()
except RuntimeError as error:
    traceback.print_exc()
    print([entry.name for entry in traceback.extract_tb(error.__traceback__)])
try:
    try:
        (x * 2).backward()
    finally:
        y = (x * 2).sum()
        y.backward()
        y.backward()
except RuntimeError:
    traceback.print_exc()
""",
    space,
)


class Raises(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        return v * 1

    @staticmethod
    def backward(ctx, g):
        raise KeyError("in backward")


space["Raises"] = Raises
typed.runsource("Raises.apply(x).sum().backward()")
typed.runsource("print(__import__('sys').gettrace())")
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    failed = pool.submit((x * 2).backward).exception()
traceback.print_exception(failed)
print(eval("[(x * 2).sum().backward() for _ in range(2)]", space), x.grad, sys.gettrace())
frames = {entry.filename for entry in traceback.extract_tb(failed.__traceback__)}
print(any("gradviz" in name for name in frames))
case = unittest.FunctionTestCase((x * 2).backward)
result = unittest.TestResult()
case.run(result)
print(result.errors[0][1])
torch.autograd.backward(3)
