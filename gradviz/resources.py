"""The way to a file of `resources/`, in a checkout and in an installed wheel alike."""

from __future__ import annotations

from pathlib import Path

from gradviz.errors import GradvizError
from gradviz.texts import tr

_PACKAGE = Path(__file__).resolve().parent
# The wheel carries the folder inside the package; a checkout has it at the top level.
_FOLDERS = (_PACKAGE / "_resources", _PACKAGE.parent / "resources")


def resource(*parts: str) -> Path:
    """Return the path of a resource, for example `resource("examples", "accumulate.py")`.

    Raises:
        GradvizError: the file is not there; the installation is incomplete.
    """
    for folder in _FOLDERS:
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    raise GradvizError(
        tr("The file {name!r} of gradviz itself is missing. Install gradviz again.", name="/".join(parts))
    )
