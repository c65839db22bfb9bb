"""Writing a file so that it is whole or not there at all."""

from __future__ import annotations

import os
import tempfile

from gradviz.app.texts import tr
from gradviz.errors import ExportError


def write_whole(path: str, data: bytes) -> None:
    """Write `data` to `path` through a temporary file beside it; an existing file is replaced.

    Raises:
        ExportError: the place cannot be written or is full; nothing was changed.
    """
    folder = os.path.dirname(os.path.abspath(path))
    name = None
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".gradviz-", delete=False) as file:
            name = file.name
            file.write(data)
        os.replace(name, path)
        name = None
    except OSError as error:
        raise ExportError(tr("{path} cannot be written: {why}.", path=path, why=error.strerror or error)) from error
    finally:
        if name is not None and os.path.exists(name):
            os.unlink(name)
