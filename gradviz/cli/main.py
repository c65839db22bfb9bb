"""The command `gradviz`: reads the words, runs a subcommand, turns our errors into exit status 2."""

from __future__ import annotations

import argparse
import contextlib
import errno
import gettext
import io
import os
import sys
from collections.abc import Sequence

from gradviz import __version__
from gradviz.cli.commands import COMMANDS, load
from gradviz.errors import GradvizError, UsageError
from gradviz.resources import resource
from gradviz.texts import ENGLISH, language, system_language, tr, use_language

REFUSED = 2  # exit status when gradviz itself says no
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a write to stdout; these name no file


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    words = list(sys.argv[1:] if words is None else words)
    _take_closed_streams()
    try:
        _speak()
        status = _run(words)
        sys.stdout.flush()
        return status
    except GradvizError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        _write_no_more()
        return 128 + 13
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        _write_no_more()
        return _refuse(tr("The output cannot be written: {why}.", why=error.strerror or error))


def _take_closed_streams() -> None:
    """Where the caller closed stdout or stderr (`>&-`) Python has None in its place; what we say goes nowhere then."""
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()


def _refuse(why: str) -> int:
    with contextlib.suppress(OSError):  # stderr may be full as well
        sys.stderr.write(f"gradviz: {why}\n")
    return REFUSED


def _write_no_more() -> None:
    """Nobody reads (`| head`), or nothing more fits. Python would complain once more when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _speak() -> None:
    """Speak the language of the system. Pictures have a choice of their own, see `gradviz export --language`."""
    folder = resource("translations")
    use_language(system_language(), folder)
    if language() != ENGLISH:
        # argparse asks this domain for its own few words.
        gettext.bindtextdomain("gradviz", folder)
        gettext.textdomain("gradviz")


def _run(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        command = load(words[0])
        parser = _Parser(
            prog=f"gradviz {words[0]}",
            description=tr(type(command).__doc__ or ""),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.prepare(parser)
        ours, theirs = split_arguments(words[1:])
        arguments = parser.parse_args(ours)
        arguments.theirs = theirs
        return command.run(arguments)
    if words and words[0] in ("-h", "--help"):
        sys.stdout.write(_help())
        return 0
    if words and words[0] in ("-V", "--version"):
        sys.stdout.write(f"gradviz {__version__}\n")
        return 0
    return _window(words)


def _window(words: list[str]) -> int:
    parser = _Parser(prog="gradviz", usage=_usage(), description=_description(), add_help=False)
    parser.add_argument("paths", nargs="*", metavar="SCRIPT|RECORDING")
    parser.add_argument("--python", metavar="PATH", help=tr("the Python that runs the script"))
    ours, theirs = split_arguments(words)
    arguments = parser.parse_intermixed_args(ours)
    for path in arguments.paths:
        if not os.path.exists(path):
            raise UsageError(_nothing_there(path))
    try:
        from gradviz.app.main import open_window
        from gradviz.cli.screen import connect
    except ImportError as error:
        raise UsageError(
            tr(
                "The window needs PySide6, which cannot be loaded ({why}). Install it (`pip install gradviz-desktop`), "
                "or use a command without a window: {commands}.",
                why=error,
                commands=", ".join(COMMANDS),
            )
        ) from error
    screen = connect(REFUSED)  # kept until the window is closed
    status: int = open_window(arguments.paths, arguments.python, tuple(theirs))
    del screen
    return status


def split_arguments(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split at the first `--`: our words, the script's words."""
    if "--" not in words:
        return list(words), []
    at = list(words).index("--")
    return list(words[:at]), list(words[at + 1 :])


def _nothing_there(word: str) -> str:
    """What to say of a word that is neither a file nor a command; a path is not mistaken for a command."""
    if os.path.dirname(word) or os.path.splitext(word)[1]:
        return tr("There is no file {path!r}. Check the path and the folder.", path=word)
    return tr(
        "{word!r} is neither a file nor a command. Commands are: {commands}. See `gradviz --help`.",
        word=word,
        commands=", ".join(COMMANDS),
    )


def _usage() -> str:
    return tr("gradviz [SCRIPT | RECORDING ...] [--python PATH] [-- ARGUMENTS]\n       gradviz COMMAND ...")


def _description() -> str:
    return tr(
        "See what backward() does: run a PyTorch script, record every backward call, draw the autograd graph, play "
        "the\ngradients. Without a command the window opens, with a tab for each file."
    )


def _help() -> str:
    rows = []
    for name in COMMANDS:
        text = tr(type(load(name)).__doc__ or "").strip().split("\n")[0]
        rows.append(f"  {name:<10}{text}")
    parts = [tr("usage: ") + _usage(), _description(), tr("commands:") + "\n" + "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


class _Parser(argparse.ArgumentParser):
    """Reports wrong words as our own errors do: one line, exit status 2."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise instead of exiting in the middle."""
        if message.startswith("unrecognized arguments"):
            message += tr(" (words of the script's own stand after `--`)")
        raise UsageError(f"{message}\n{self.format_usage().rstrip()}")
