"""`gradviz record`: run a script under the recorder."""

from __future__ import annotations

import argparse
import contextlib
import linecache
import os
import sys
from dataclasses import replace

from gradviz.cli.explain import brief_findings, unparsable
from gradviz.cli.holding import ask_for_seeds
from gradviz.cli.numbers import calls, size, whole
from gradviz.cli.opened import is_recording
from gradviz.cli.signals import forward_signals
from gradviz.errors import RecordingError, UsageError
from gradviz.runner import Callbacks, Ended, Limits, Run, Target, own_descriptors, sentence
from gradviz.runner.interpreter import check_interpreter
from gradviz.runner.naming import claim
from gradviz.runner.snapshots import Snapshots
from gradviz.runner.target import Hold
from gradviz.store.portable import make_portable
from gradviz.store.reader import close_recording, open_recording
from gradviz.texts import tr, trn

# Findings are computed at the end of `record` only where that takes no time worth noticing.
_MOST_NODES = 100_000
_MOST_NOTES = 3


class Record:
    """Run a script and record every backward call that it makes.

    The script runs as under `python`: same output, same exit status. The recording is NAME.gradviz in the current
    folder unless -o says otherwise. Words after `--` are the script's own.

    examples:
      gradviz record train.py
      gradviz record train.py -o run1.gradviz -- --epochs 3
      gradviz record -m package.train -- --lr 0.1
    """

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        parser.usage = tr("gradviz record SCRIPT | -m MODULE [-o OUT.gradviz] [OPTIONS] [-- ARGUMENTS]")
        parser.add_argument("script", nargs="?", metavar="SCRIPT", help=tr("a .py file, a notebook, or a folder"))
        parser.add_argument("-m", dest="module", metavar="MODULE", help=tr("run a module, as `python -m` does"))
        parser.add_argument("-o", "--output", metavar="OUT.gradviz", help=tr("where the recording goes"))
        parser.add_argument("--force", action="store_true", help=tr("overwrite an existing recording"))
        parser.add_argument("--python", metavar="PATH", help=tr("the Python that runs the script"))
        parser.add_argument(
            "--portable", action="store_true", help=tr("keep no folder, user or machine in the recording")
        )
        parser.add_argument(
            "--hold", type=whole(0), metavar="N", help=tr("hold the last N calls and ask for other seeds")
        )
        parser.add_argument("--max-calls", type=whole(1), metavar="N", help=tr("record no more than N calls"))
        parser.add_argument(
            "--calls", type=calls, metavar="1,5,10-20", help=tr("record these calls in full, no others")
        )
        parser.add_argument(
            "--max-values", type=whole(0), metavar="N", help=tr("keep whole tensors of up to N elements")
        )
        parser.add_argument(
            "--size-limit", type=size, metavar="SIZE", help=tr("stop recording at this size (200M, 2G)")
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Record, then say in a line or two what was recorded."""
        target = target_of(arguments)
        target.check()
        check_interpreter(target.python)
        path = claim(arguments.output, target.name, arguments.force, script=target.script)
        snapshots = Snapshots(arguments.hold or 0)
        run = Run(
            replace(target, hold=Hold() if arguments.hold else None),
            path,
            Callbacks(held=snapshots.add),
            sinks=own_descriptors(),
            own_group=False,
            stdin=None,
        )
        with contextlib.closing(snapshots):
            with forward_signals(run):
                ended = run.run()
            if snapshots.labels():
                ask_for_seeds(snapshots, ended.recording)
        if arguments.portable and os.path.exists(ended.recording):
            _make_portable(ended.recording)
        sys.stderr.write(_summary(ended, target.name))
        return ended.exit_code


def _make_portable(path: str) -> None:
    recording = open_recording(path)
    close_recording(recording)
    make_portable(path, recording.header)


def target_of(arguments: argparse.Namespace) -> Target:
    """What the words of the command ask for.

    Raises:
        UsageError: neither a script nor a module, or both; or a recording.
    """
    if (arguments.module is None) == (arguments.script is None):
        raise UsageError(tr("Name either a script or, with -m, a module: `gradviz record SCRIPT [-- ARGUMENTS]`."))
    if arguments.script is not None and os.path.isfile(arguments.script) and is_recording(arguments.script):
        name = arguments.script
        raise UsageError(tr("{path!r} is a recording, no script. Look at it with: gradviz {path}", path=name))
    limits = Limits(arguments.max_calls, arguments.calls, arguments.max_values, arguments.size_limit, arguments.hold)
    python = arguments.python or sys.executable
    return Target(arguments.script, arguments.module, tuple(arguments.theirs), python, limits=limits)


def _summary(ended: Ended, name: str) -> str:
    """One or two lines: how the script ended and what was recorded, and the command to type next."""
    path = _short(ended.recording)
    lines = []
    if ended.outcome.kind not in ("finished", "raised"):
        lines.append(sentence(ended.outcome, name))
    lines += ended.problems
    try:
        lines += _recorded(ended, path)
    except RecordingError as error:  # a full disk: the script has run all the same, and its exit status counts
        lines.append(str(error))
    return "".join(f"gradviz: {line}\n" for line in lines)


def _recorded(ended: Ended, path: str) -> list[str]:
    """What was found, then what was recorded and the command to type next."""
    recording = open_recording(ended.recording)
    try:
        count = len(recording.top_calls)
        nodes = sum(call.node_count for call in recording.calls)
        found = [*recording.header.notes[:_MOST_NOTES]]
        found += brief_findings(recording) if nodes <= _MOST_NODES else []
    finally:
        close_recording(recording)
    if len(found) > len(recording.header.notes[:_MOST_NOTES]):
        found.append(tr("What to do: gradviz explain {path}", path=path))
    if not count and (line := unparsable(ended.outcome, _text_of)):
        return [*found, tr("No backward call: {what}. The recording is {path}.", what=line, path=path)]
    return [*found, _counted(count, ended.seen_torch, bool(ended.problems), path)]


def _text_of(file: str) -> str:
    """The text of a file as Python's own tracebacks read it: also one that is no valid source."""
    return "".join(linecache.getlines(file))


def _counted(count: int, seen_torch: bool, troubled: bool, path: str) -> str:
    if count:
        what = trn("{n} backward call recorded.", "{n} backward calls recorded.", count)
        return f"{what} " + tr("Look at it with: gradviz {path}", path=path)
    if not seen_torch and troubled:
        return tr("No call was recorded; what the script printed is in {path}.", path=path)
    if not seen_torch:
        return tr("No backward call: the script never imported torch. The recording is {path}.", path=path)
    return tr(
        "No backward call was made. Call .backward() on a result that depends on a tensor with requires_grad=True; "
        "what the script printed is in {path}.",
        path=path,
    )


def _short(path: str) -> str:
    """The path as the user would type it, quoted for a shell where that is needed."""
    import shlex

    relative = os.path.relpath(path)
    return shlex.quote(path if relative.startswith("..") else relative)
