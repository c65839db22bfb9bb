"""The tree of errors that gradviz raises. A failing user script is data, not one of these.

Each message says what happened, to what, and what to do next; the command line and the window show it as it is.
"""

from __future__ import annotations


class GradvizError(Exception):
    """The root of the tree. `str(error)` is a text for the user."""


class RecordingError(GradvizError):
    """A recording cannot be opened, read or written."""


class ClosedRecordingError(RecordingError):
    """A recording was read after it had been closed."""


class NotARecordingError(RecordingError):
    """The file is not a gradviz recording, or its tables are not ours."""


class NewerRecordingError(RecordingError):
    """The recording was written by a newer major version of the format."""


class DamagedRecordingError(RecordingError):
    """The recording is cut off or damaged; what could be read was read."""


class ScriptError(GradvizError):
    """A script cannot be started (missing file, not a file, not readable)."""


class InterpreterError(GradvizError):
    """The chosen Python cannot run the script (missing, no Python, no torch, torch too old)."""


class ExportError(GradvizError):
    """A picture or an animation cannot be made or written."""


class UsageError(GradvizError):
    """The words of a command do not fit together."""


class SeedError(GradvizError):
    """A seed expression failed, took too long, or does not fit its root."""


class LayoutError(GradvizError):
    """A layout engine failed, is missing or was too late."""


class ProtocolError(GradvizError):
    """The other process said something that is not a message of ours."""
