"""The file that Python runs for a notebook: it gives its own place as `__main__` to the notebook's cells."""

import os
from typing import Any

_space: dict[str, Any] = {"__name__": "gradviz.worker.notebook"}
_space["__file__"] = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "notebook.py"))
with open(_space["__file__"], "rb") as _file:
    exec(compile(_file.read(), _space["__file__"], "exec"), _space)
_space["run"](globals())
