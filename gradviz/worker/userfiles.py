"""Tells the user's own files from those of Python, of installed packages and of gradviz."""

from __future__ import annotations

import os
import site
import sys
import sysconfig

from gradviz.worker.frames import path_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INSTALLED = ("site-packages", "dist-packages")
# Code that a person typed without a file. Other names in <> are generated (namedtuple, dataclass, importlib).
_TYPED = ("<ipython-input", "<stdin>", "<python-input")
_CELL = ".ipynb, cell "  # see notebook.py


class UserFiles:
    """Answers by file name, as it stands in `code.co_filename`; answers are remembered.

    A file is the user's when it lies below one of `roots` (the script's folder, say) but not in a folder of installed
    packages below that root, or when it belongs neither to the standard library nor to an installed package.
    """

    def __init__(self, *roots: str) -> None:
        self._roots = tuple(_folder(root) for root in roots)
        self._foreign = _foreign_folders()
        self.known: dict[str, bool] = {}  # answers so far, for those who ask at every call of a function

    def __contains__(self, file: str) -> bool:
        known = self.known.get(file)
        if known is None:
            known = self.known[file] = self._decide(file)
        return known

    def add_root(self, root: str) -> None:
        """Count what lies below `root` as the user's from now on."""
        self._roots = (*self._roots, _folder(root))
        self.known.clear()

    def _decide(self, file: str) -> bool:
        if file.startswith("<"):
            return file.startswith(_TYPED) or _CELL in file
        path = path_of(file)
        if path.startswith(_OURS) and not path.startswith(_EXAMPLES):
            return False
        root = max((root for root in self._roots if path.startswith(root)), key=len, default="")
        foreign = max((folder for folder in self._foreign if path.startswith(folder)), key=len, default="")
        # A script may lie in / or in a home that holds an environment; a module run by -m may lie in an environment.
        if len(foreign) > len(root):
            return False
        return not any(part in _INSTALLED for part in path[len(root) :].split(os.sep)[:-1])


def _folder(path: str) -> str:
    return os.path.join(os.path.abspath(path), "")


_OURS = _folder(_PACKAGE)
_EXAMPLES = _folder(os.path.join(_PACKAGE, "_resources"))


def _foreign_folders() -> tuple[str, ...]:
    """Folders of the standard library and of installed packages."""
    paths = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)]
    paths += [*getattr(site, "getsitepackages", list)(), sys.prefix + "/lib/python3", sys.base_prefix + "/lib/python3"]
    torch = sys.modules.get("torch")
    if torch is not None and torch.__file__:
        paths.append(os.path.dirname(torch.__file__))
    return tuple({_folder(path) for path in paths if path})
