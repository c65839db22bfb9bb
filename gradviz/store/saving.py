"""Saves a recording under another name."""

from __future__ import annotations

import os
import shutil
import sqlite3

from gradviz.errors import RecordingError
from gradviz.model import Recording
from gradviz.store.check import SQLITE_ERRORS, bound
from gradviz.store.database import cannot_write
from gradviz.store.opening import Opened
from gradviz.store.reader import Reader
from gradviz.texts import tr


def save_as(recording: Recording, path: str, force: bool = False) -> None:
    """Write what is in a recording by now as one plain file; a damaged one is copied as it is.

    Raises:
        RecordingError: there is a file and `force` is not given, or the file cannot be written.
    """
    assert isinstance(recording.source, Reader)
    target = os.path.abspath(path)
    if os.path.exists(target) and not force:
        raise _exists(target)
    fresh = f"{target}.{os.getpid()}.saving"
    try:
        _write(recording.source.opened, fresh)
        _put(fresh, target, force)
    except (*SQLITE_ERRORS, OSError) as error:
        raise cannot_write(target, error) from error
    finally:
        if os.path.exists(fresh):
            os.unlink(fresh)


def _write(opened: Opened, fresh: str) -> None:
    if not opened.salvage:
        connection = opened.connect()
        try:
            bound(connection, opened.size())
            connection.execute("VACUUM INTO ?", (fresh,))
            return
        except (sqlite3.DatabaseError, UnicodeError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
        finally:
            connection.close()
        if os.path.exists(fresh):
            os.unlink(fresh)
    shutil.copyfile(opened.path, fresh)


def _put(fresh: str, target: str, force: bool) -> None:
    """Give the finished file its name; without `force` never in the place of another one."""
    if force:
        os.replace(fresh, target)
        return
    try:
        os.link(fresh, target)
    except FileExistsError as error:
        raise _exists(target) from error
    except OSError:  # a file system without links: the check above must do
        os.rename(fresh, target)


def _exists(target: str) -> RecordingError:
    return RecordingError(tr("{path!r} exists already. Choose another name, or use --force.", path=target))
