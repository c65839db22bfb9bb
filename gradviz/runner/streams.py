"""The script's stdout and stderr: a terminal where ours is one, a pipe elsewhere, copied through byte by byte."""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import Sequence
from dataclasses import dataclass

READ_SIZE = 1 << 16


@dataclass
class Stream:
    """One output stream. `child` is given to the script, `parent` read by us, `sink` where it is copied to, if any."""

    name: str
    child: int
    parent: int
    sink: int | None = None
    is_terminal: bool = False

    def read(self) -> bytes:
        """What the script wrote; empty at its end."""
        try:
            return os.read(self.parent, READ_SIZE)
        except OSError as error:
            if error.errno == errno.EIO:  # how Linux says that nobody holds the other side of a pty any more
                return b""
            raise

    def copy(self, data: bytes) -> bool:
        """Copy to the sink; False when nobody reads there any more."""
        if self.sink is None:
            return True
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.sink, view) :]
            except BlockingIOError:
                select.select([], [self.sink], [])
            except OSError:
                return False
        return True

    def close_child(self) -> None:
        """Forget the script's side once the script has it."""
        os.close(self.child)

    def close(self) -> None:
        """Let go of our side: a script that still writes gets the error that it would get without us."""
        if self.parent >= 0:
            os.close(self.parent)
            self.parent = -1

    def follow_size(self) -> None:
        """Give the script's terminal the size of ours."""
        if self.is_terminal and self.sink is not None:
            _copy_size(self.sink, self.parent)


def open_streams(sinks: Sequence[int | None], terminal: bool = False) -> list[Stream]:
    """The streams for stdout and stderr: a single one where both go to the same place.

    Two readers cannot know in which order a script wrote to its two streams. Where our own are the same terminal or the
    same file (`> log 2>&1`), people see that order, so the script gets one stream for both; it is called stdout then.
    """
    out, error = sinks
    if out is not None and error is not None and _same_place(out, error):
        return [open_stream("stdout", out, terminal)]
    return [open_stream("stdout", out, terminal), open_stream("stderr", error, terminal)]


def _same_place(one: int, other: int) -> bool:
    """Whether two descriptors are the same file; what the null device swallows has no order to keep."""
    return os.path.sameopenfile(one, other) and not os.path.samestat(os.fstat(one), os.stat(os.devnull))


def open_stream(name: str, sink: int | None, terminal: bool = False) -> Stream:
    """A stream for a script. `sink` is a descriptor of ours to copy to; `terminal` asks for a pty without a sink."""
    if sys.platform != "win32" and (terminal or (sink is not None and os.isatty(sink))):
        return _terminal(name, sink)
    reader, writer = os.pipe()
    return Stream(name, writer, reader, sink)


def _terminal(name: str, sink: int | None) -> Stream:
    import termios

    parent, child = os.openpty()
    settings = termios.tcgetattr(child)
    if sink is not None:
        settings = termios.tcgetattr(sink)
        # Line feeds are turned into carriage return + line feed once, by the real terminal.
        settings[1] &= ~termios.OPOST
    termios.tcsetattr(child, termios.TCSANOW, settings)
    stream = Stream(name, child, parent, sink, is_terminal=True)
    stream.follow_size()
    return stream


def _copy_size(source: int, target: int) -> None:
    import fcntl
    import termios

    try:
        size = fcntl.ioctl(source, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(target, termios.TIOCSWINSZ, size)
    except OSError:  # the terminal has gone
        return
