"""Writing an output: into a temporary file beside it, which is renamed when it is complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradviz.errors import ExportError
from gradviz.texts import tr


@contextmanager
def replacing(path: Path, force: bool) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes its place when the block ends well, and is removed otherwise.

    Raises:
        ExportError: `path` exists and `force` is not set, or it cannot be written.
    """
    check_writable(path, force)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise _cannot(path, error) from error
    os.close(handle)
    part = Path(name)
    try:
        yield part
        os.chmod(part, 0o666 & ~_umask())  # mkstemp makes files that only their owner may read
        os.replace(part, path)
    except OSError as error:
        raise _cannot(path, error) from error
    finally:
        part.unlink(missing_ok=True)


def write(path: Path, data: bytes, force: bool) -> None:
    """Write `data` to `path` as a whole or not at all; raises as `replacing`."""
    with replacing(path, force) as part:
        part.write_bytes(data)


def check_writable(path: Path, force: bool) -> None:
    """Refuse early what could not be written at the end.

    Raises:
        ExportError: the file exists, its folder does not, or the path is a folder or a device.
    """
    if path.is_dir():
        raise ExportError(tr("{path!r} is a folder: name a file in it.", path=str(path)))
    if path.exists() and not path.is_file():  # root could replace /dev/null
        raise ExportError(tr("{path!r} is a device or a pipe: name a file.", path=str(path)))
    if not path.parent.is_dir():
        raise ExportError(tr("There is no folder {path!r}: make it first.", path=str(path.parent)))
    if path.exists() and not force:
        raise ExportError(tr("{path!r} exists already: use --force to replace it.", path=str(path)))


def _cannot(path: Path, error: OSError) -> ExportError:
    return ExportError(tr("{path!r} cannot be written: {why}.", path=str(path), why=error.strerror or error))


def _umask() -> int:
    """The mask of the process; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
