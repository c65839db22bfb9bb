"""Waits in the worker until the script imports torch, and starts the recorder then. Loads nothing before.

This file is compiled under the name of Python's import machinery (see start/sitecustomize.py): its frames vanish from
tracebacks of imports, and `warnings` counts past them. It must not import anything that Python has not
loaded by itself: that would be visible to the script.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_NEEDED = ("resource", "sqlite3", "sysconfig")


class Watcher:
    """A finder at the head of `sys.meta_path` for a few modules; it goes when torch has been imported."""

    def __init__(self, order: bytes) -> None:
        self.order = order
        self.process = os.getpid()
        self.session: Any = None
        self.trouble = ""
        self.random_states: dict[str, Any] = {}
        self._awaited = {"random", "numpy.random", "torch"}

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """Find an awaited module as Python would, with a loader that tells us when it has run."""
        if name not in self._awaited:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                        spec.loader = _Loader(self, spec.loader)  # type: ignore[assignment]
                    return spec
        return None

    def loaded(self, module: "ModuleType") -> None:
        """An awaited module has run."""
        self._awaited.discard(module.__name__)
        if os.getpid() != self.process:  # a fork of the script's own: not recorded
            return
        if module.__name__ == "torch":
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            try:
                self.session = _unseen("gradviz.worker.script", "start", self.order, self.random_states)
            except Exception as error:  # whatever is wrong with us, the script goes on as if we were not there
                self.trouble = f"{type(error).__name__}: {error}"
        elif module.__name__ == "random":
            if _is_pythons(module):
                self.random_states["random"] = module.getstate()
        elif hasattr(module, "get_state"):
            self.random_states["numpy"] = module.get_state()

    def at_exit(self) -> None:
        """The script has ended: what the recorder has not written yet, and how it ended."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if os.getpid() != self.process:
            return
        try:
            if self.session is not None:
                self.session.end()
            elif self.trouble or getattr(sys, "last_value", None) is not None:
                _unseen("gradviz.worker.last_words", "report_error", self.order, self.trouble)
        except Exception as error:  # Python would print it; the parent sees that our last words are missing
            self.trouble = f"{type(error).__name__}: {error}"


def _is_pythons(module: "ModuleType") -> bool:
    """Whether a module is the standard library's and not a file of the script's with the same name."""
    return (getattr(module, "__file__", None) or "").startswith(os.path.join(os.path.dirname(os.__file__), ""))


class _Loader:
    """The module's own loader, and a word to the watcher afterwards. It leaves no trace on the module."""

    def __init__(self, watcher: Watcher, loader: "Any") -> None:
        self._watcher = watcher
        self._loader = loader

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._loader, name)

    def create_module(self, spec: "Any") -> "Any":
        return self._loader.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._watcher.loaded(module)


def _unseen(name: str, function: str, *arguments: "Any") -> "Any":
    """Call a function of gradviz, loaded by its place; take out of `sys.modules` and the path caches what came with it.

    What torch loads stays: a second copy of one of its modules would be another module. A copy of one of the standard
    library's that the script imports later is as good as ours.
    """
    before, cached = dict(sys.modules), set(sys.path_importer_cache)
    library = os.path.dirname(os.__file__)
    # A gradviz of the script's own, perhaps another version; and what it named like one of the standard library.
    aside = [key for key in before if key.split(".")[0] == "gradviz" or _is_shadow(key, library)]
    for key in aside:
        del sys.modules[key]
    ahead = [library, os.path.join(library, "lib-dynload")]
    sys.path[:0] = ahead
    try:
        import importlib.util

        root = os.path.dirname(os.path.dirname(__file__))
        spec: Any = importlib.util.spec_from_file_location(
            "gradviz", os.path.join(root, "__init__.py"), submodule_search_locations=[root]
        )
        package = importlib.util.module_from_spec(spec)
        sys.modules["gradviz"] = package
        spec.loader.exec_module(package)
        return getattr(importlib.import_module(name), function)(*arguments)
    finally:
        ours = {"gradviz", *sys.stdlib_module_names}
        for key in [key for key in sys.modules if key not in before]:
            if key.split(".")[0] in ours or key.startswith("_sysconfigdata"):
                del sys.modules[key]
        sys.modules.update({key: before[key] for key in aside})
        for folder in ahead:
            sys.path.remove(folder)
        for entry in set(sys.path_importer_cache) - cached:
            del sys.path_importer_cache[entry]


def _is_shadow(name: str, library: str) -> bool:
    """Whether a module that we need, and that torch does not load, is a file of the script's own."""
    file = getattr(sys.modules[name], "__file__", None) or library
    return name.split(".")[0] in _NEEDED and not file.startswith(library)


def wait_for_torch(order: bytes) -> "Watcher":
    """Start waiting. `order` is what the parent wrote: one JSON line, read only when the time has come."""
    was_loaded = "atexit" in sys.modules
    import atexit

    watcher = Watcher(order)
    sys.meta_path.insert(0, watcher)
    # The first function registered is the last to run: calls that the script makes at its exit are recorded.
    atexit.register(watcher.at_exit)
    if not was_loaded:
        del sys.modules["atexit"]
    return watcher
