"""How a script ended, decided from its exit status and its last words, and said in a sentence."""

from __future__ import annotations

import os
import signal
from typing import Any

from gradviz.model import Outcome, Recording
from gradviz.texts import tr


def decide(status: int, last_words: dict[str, Any] | None, stopped: bool = False) -> Outcome:
    """The outcome of a process.

    Args:
        status: as `Popen.returncode`: minus the number of the signal that ended it.
        last_words: what the worker said when Python shut down, None when it did not get that far; `error` in it
            holds the exception that ended the script.
        stopped: the user asked us to stop it.
    """
    number = -status if status < 0 else None
    code = 128 - status if status < 0 else status
    error = (last_words or {}).get("error")
    if stopped:
        return Outcome("stopped", code, number)
    if error is not None and (status == 1 or error["type"] == "KeyboardInterrupt"):
        return Outcome("raised", code, number, **{name: error.get(name) for name in _ERROR_FIELDS})
    if number is not None:
        return Outcome("killed", code, number)
    return Outcome("finished" if status == 0 else "exited", code)


_ERROR_FIELDS = ("type", "message", "file", "line", "traceback")


def ending(recording: Recording) -> str:
    """How what was recorded ended, a script or a block of a running program, for a person."""
    header = recording.header
    name = os.path.basename(header.script)
    if not header.in_process:
        return sentence(recording.outcome, name or tr("the script"))
    outcome = recording.outcome
    block = tr("The recorded block of {name}", name=name) if name else tr("The recorded block")
    if outcome.kind == "exited":
        return tr("{name} was left by SystemExit with status {code}.", name=block, code=outcome.exit_code)
    return sentence(outcome, block)


def sentence(outcome: Outcome, name: str) -> str:
    """What happened, for a person."""
    if outcome.kind == "finished":
        return tr("{name} ran to its end.", name=name)
    if outcome.kind == "raised":
        return _raised(outcome, name)
    if outcome.kind == "exited":
        return tr("{name} exited with status {code}.", name=name, code=outcome.exit_code)
    if outcome.kind == "killed":
        return tr("{name} was ended by {signal}{meaning}.", name=name, **_signal(outcome.signal))
    if outcome.kind == "stopped":
        return tr("{name} was stopped.", name=name)
    if outcome.kind == "running":
        return tr("{name} is still running, or its recorder was killed before it could say how it ended.", name=name)
    return tr("How {name} ended is not known.", name=name)


def _raised(outcome: Outcome, name: str) -> str:
    first_line = (outcome.message or "").split("\n")[0]
    what = f"{outcome.type}: {first_line}" if first_line else str(outcome.type)
    if outcome.line is None or first_line.endswith(f"line {outcome.line})"):  # Python's own words of a bad syntax
        return tr("{name} raised {what}", name=name, what=what)
    return tr("{name} raised {what} (line {line})", name=name, what=what, line=outcome.line)


def _signal(number: int | None) -> dict[str, str]:
    meanings = {
        signal.SIGSEGV: tr(" (it crashed: a segmentation fault)"),
        signal.SIGABRT: tr(" (it aborted)"),
        signal.SIGTERM: tr(" (it was asked to end)"),
        signal.SIGINT: tr(" (Ctrl-C)"),
        getattr(signal, "SIGKILL", None): tr(" (it was killed; the system does so when memory runs out)"),
    }
    try:
        found = signal.Signals(number or 0)
    except ValueError:
        return {"signal": tr("signal {number}", number=number), "meaning": ""}
    return {"signal": found.name, "meaning": meanings.get(found, "")}
