"""Where a recording goes: NAME.gradviz, then NAME-2 ...; in a torchrun job one a rank; never over another file."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping

from gradviz.errors import RecordingError, UsageError
from gradviz.texts import tr

SUFFIX = ".gradviz"


def claim(
    wanted: str | None,
    name: str,
    force: bool,
    environment: Mapping[str, str] | None = None,
    script: str | None = None,
) -> str:
    """Choose the file and create it empty, so that two runs at the same time do not choose the same one.

    Args:
        wanted: the path that the user asked for, None for the default in the current folder.
        name: the script's file name or the module's dotted name.
        force: whether an existing file may be replaced.
        environment: where torchrun leaves `RANK`; ours by default.
        script: what is to run; no recording takes its place, whatever `force` says.

    Raises:
        UsageError: the file exists, and `force` was not said; or it is a folder, a device, or the script itself.
        RecordingError: it cannot be created.
    """
    rank = rank_of(os.environ if environment is None else environment)
    if wanted is not None:
        path = os.path.abspath(with_rank(wanted, rank))
        _check_place(path, wanted, script)
        if force:
            _remove(path)
        if not _create(path):
            raise UsageError(tr("{path!r} exists. Choose another place with -o, or add --force.", path=wanted))
        return path
    stem = os.path.splitext(name)[0] if name.endswith((".py", ".ipynb", ".pyw")) else name
    stem = re.sub(r"[^\w.\- ]", "_", stem) or "recording"
    for number in itertools.count(1):
        candidate = stem if number == 1 else f"{stem}-{number}"
        path = os.path.abspath(with_rank(candidate + SUFFIX, rank))
        if force and number == 1:
            _remove(path)
        if _create(path):
            return path
    raise AssertionError  # the numbers have no end


def rank_of(environment: Mapping[str, str]) -> int | None:
    """The rank of this process in a torchrun job of more than one, else None."""
    rank, size = environment.get("RANK", ""), environment.get("WORLD_SIZE", "")
    return int(rank) if rank.isdigit() and size.isdigit() and int(size) > 1 else None


def with_rank(path: str, rank: int | None) -> str:
    """`train.gradviz` -> `train.rank1.gradviz`."""
    if rank is None:
        return path
    stem, suffix = os.path.splitext(path)
    return f"{stem}.rank{rank}{suffix}"


def _create(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileExistsError:
        return False
    except OSError as error:
        raise _cannot(path, error) from error
    return True


def _check_place(path: str, wanted: str, script: str | None) -> None:
    """Refuse what `--force` must not remove either: root could replace /dev/null, and anybody the script itself."""
    if os.path.isdir(path):
        raise UsageError(tr("{path!r} is a folder. Name a file with -o.", path=wanted))
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(tr("{path!r} is a device or a pipe. Name a file with -o.", path=wanted))
    if script is not None and os.path.exists(path) and os.path.exists(script) and os.path.samefile(path, script):
        raise UsageError(tr("{path!r} is the script itself. Name another file with -o.", path=wanted))


def _remove(path: str) -> None:
    for side in ("", "-wal", "-shm"):  # what SQLite keeps beside it
        try:
            os.unlink(path + side)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _cannot(path, error) from error


def _cannot(path: str, error: OSError) -> RecordingError:
    why = error.strerror or str(error)
    return RecordingError(
        tr("The recording {path!r} cannot be created: {why}. Choose another place with -o.", path=path, why=why)
    )
