"""The first code of ours in a worker: Python imports it on its own, before it runs the script natively.

The folder of this file is first in PYTHONPATH when the worker starts. This module takes every trace of that away
(environment, `sys.path`, `sys.modules`), runs a `sitecustomize` of the user's own, and waits for `import torch`. So
the interpreter itself runs `script.py`, `-m module` or a folder, with nothing of ours below its first frame.
"""

import os
import sys


def _clean() -> bytes:
    """Put the environment back as the user has it; return what the parent wrote into the inherited pipe."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    sys.path_importer_cache.pop(folder, None)
    sys.modules.pop("sitecustomize", None)
    pipe = int(os.environ.pop("GRADVIZ_PIPE"))
    for name in ("PYTHONPATH", "PYTHONHASHSEED"):
        before = os.environ.pop(f"GRADVIZ_{name}", None)
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
    parts = []
    while part := os.read(pipe, 65536):
        parts.append(part)
    os.close(pipe)
    return b"".join(parts)


def _start(folder: str, order: bytes) -> None:
    """Run `waiting.py`, whose frames Python takes for its own import machinery and leaves out of tracebacks."""
    path = os.path.join(os.path.dirname(folder), "waiting.py")
    with open(path, "rb") as file:
        code = compile(file.read(), "<frozen importlib._bootstrap>", "exec", dont_inherit=True)
    space: dict[str, object] = {"__name__": "gradviz.worker.waiting", "__file__": path}
    exec(code, space)
    wait = space["wait_for_torch"]
    wait(order)  # type: ignore[operator]


if "GRADVIZ_PIPE" in os.environ:
    _start(os.path.dirname(os.path.abspath(__file__)), _clean())
    # The environment may have a sitecustomize of its own. Where it has none the ImportError goes to `site`, which
    # expects it, and this module leaves nothing in sys.modules.
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
