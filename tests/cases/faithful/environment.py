"""Prints what a script can see of its surroundings, before and after torch is there, as JSON."""

import json
import sys

before = sorted(sys.modules)
finders = [type(finder).__name__ for finder in sys.meta_path]
import atexit
import builtins
import gc
import inspect
import os
import resource
import signal
import threading
import traceback
import warnings

import torch


def frames():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return found


def failure():
    try:
        torch.ones(2, requires_grad=True).backward()
    except RuntimeError:
        return traceback.format_exc()


def nested_failure():
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("inside")

    try:
        torch.autograd.grad(Broken.apply(torch.ones((), requires_grad=True)), ())
    except Exception:
        first = traceback.format_exc()
    try:
        Broken.apply(torch.ones((), requires_grad=True)).backward()
    except ValueError:
        return first, traceback.format_exc()


def module_failure():
    try:
        torch.nn.Sequential(torch.nn.Linear(2, 2))(torch.ones(3))
    except RuntimeError:
        return traceback.format_exc()


main = sys.modules["__main__"]
report = {
    "main": [main.__name__, main.__file__, str(main.__spec__), str(type(main.__loader__)), main.__package__],
    "main_keys": sorted(key for key in vars(main) if key.startswith("__")),
    "doc": main.__doc__,
    "argv": sys.argv,
    "orig_argv": sys.orig_argv[1:],
    "path": sys.path,
    "path_cache": sorted(sys.path_importer_cache),
    "hooks": [str(hook) for hook in sys.path_hooks],
    "cwd": os.getcwd(),
    "flags": str(sys.flags),
    "executable": sys.executable,
    "prefix": sys.prefix,
    "before": before,
    "finders_after": [type(finder).__name__ for finder in sys.meta_path],
    "modules": sorted(sys.modules),
    "environ": {key: value for key, value in os.environ.items() if key not in ("_", "OLDPWD", "SHLVL")},
    "threads": [torch.get_num_threads(), torch.get_num_interop_threads(), threading.active_count()],
    "thread_names": [thread.name for thread in threading.enumerate()],
    "stack_size": threading.stack_size(),
    "limits": resource.getrlimit(resource.RLIMIT_STACK),
    "recursion": sys.getrecursionlimit(),
    "frames": frames(),
    "stack": [(entry.filename, entry.lineno, entry.function) for entry in inspect.stack()],
    "signals": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
    "excepthook": [sys.excepthook is sys.__excepthook__, threading.excepthook is threading.__excepthook__],
    "displayhook": sys.displayhook is sys.__displayhook__,
    "unraisable": sys.unraisablehook is sys.__unraisablehook__,
    "streams": [type(stream).__name__ for stream in (sys.stdin, sys.stdout, sys.stderr)],
    "encodings": [(stream.encoding, stream.errors, stream.line_buffering) for stream in (sys.stdout, sys.stderr)],
    "stdout_is_own": sys.stdout is sys.__stdout__,
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:8],
    "gc": [gc.isenabled(), gc.get_threshold(), len(gc.callbacks)],
    "filters": len(warnings.filters),
    "warnoptions": sys.warnoptions,
    "import": builtins.__import__.__name__,
    "profile": str(sys.getprofile()),
    "grad": [torch.is_grad_enabled(), torch.is_anomaly_enabled()],
    "default_dtype": str(torch.get_default_dtype()),
    "source": inspect.getsource(failure),
    "torch_loader": [str(type(torch.__loader__)), str(type(torch.__spec__.loader))],
    "failure": failure(),
    "nested": nested_failure(),
    "module_failure": module_failure(),
    "umask": os.umask(0o22),
    "pgid_is_parent": os.getpgid(0) == os.getpgid(os.getppid()),
    "atexit": atexit._ncallbacks() >= 0,
}
json.dump(report, sys.stdout, indent=1, default=str)
