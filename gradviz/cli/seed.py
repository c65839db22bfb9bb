"""`gradviz seed`: run a script to a call, and run that call again with another seed."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace

from gradviz.cli.record import target_of
from gradviz.cli.signals import forward_signals
from gradviz.cli.what_if import jacobian_lines, lines_of
from gradviz.errors import SeedError, UsageError
from gradviz.runner import Ended, Target, own_descriptors, sentence
from gradviz.runner.experiments import Held, JacobianFound, WhatIf
from gradviz.runner.interpreter import check_interpreter
from gradviz.runner.keeping import keep
from gradviz.runner.naming import claim
from gradviz.runner.target import Hold
from gradviz.runner.trying import Trial
from gradviz.store.json_view import json_view
from gradviz.store.reader import close_recording, open_recording
from gradviz.texts import tr, trn


class Seed:
    """Run a script to one of its calls, and run that call again with another seed.

    The script itself goes on as if nothing had happened; what it prints goes to stderr. A seed is a word (ones, zeros,
    one_hot(1, 0), row(0), column(1), normal(7), signs(7), itself), numbers ([[1, 0]]), or an expression over the
    script's variables (2*ones_like(out)). Without -o the script is stopped when the answer is there.

    examples:
      gradviz seed train.py --call 2 --seed "one_hot(0)"
      gradviz seed train.py --call 1 --root hidden --seed ones -o tried.gradviz
      gradviz seed train.py --call 1 --jacobian x
    """

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        parser.usage = tr("gradviz seed SCRIPT | -m MODULE --call L --seed EXPR [--root NAME] [OPTIONS] [-- ARGUMENTS]")
        parser.add_argument("script", nargs="?", metavar="SCRIPT")
        parser.add_argument("-m", dest="module", metavar="MODULE", help=tr("run a module, as `python -m` does"))
        parser.add_argument("--call", metavar="L", default="1", help=tr("the call's label: 2, or 2.1 for a nested one"))
        parser.add_argument(
            "--seed", action="append", default=[], metavar="EXPR", help=tr("the seed; once for each root")
        )
        parser.add_argument(
            "--root", action="append", metavar="NAME", help=tr("start at this tensor instead of the call's own root")
        )
        parser.add_argument("--jacobian", metavar="INPUT", help=tr("show d root / d INPUT instead of running a seed"))
        parser.add_argument("--rows", metavar="0,3", help=tr("only these rows of the Jacobian"))
        parser.add_argument("-o", "--output", metavar="OUT.gradviz", help=tr("keep the recording, with the what-if"))
        parser.add_argument("--force", action="store_true", help=tr("overwrite an existing recording"))
        parser.add_argument("--json", action="store_true", help=tr("the what-if as JSON on stdout"))
        parser.add_argument("--python", metavar="PATH", help=tr("the Python that runs the script"))
        parser.add_argument("--in-place", action="store_true", help=tr("stop the script itself instead of a copy"))
        parser.add_argument("--hooks", action="store_true", help=tr("agree to run your hooks in place"))
        parser.set_defaults(max_calls=None, calls=None, max_values=None, size_limit=None, hold=None)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run, try, print.

        Raises:
            SeedError: the call never came, or the seed does not fit, or the experiment failed.
        """
        if not arguments.seed and arguments.jacobian is None:
            raise UsageError(tr("Say which seed: --seed ones, or an expression such as --seed 'one_hot(0)'."))
        target = replace(target_of(arguments), hold=Hold((arguments.call,), arguments.in_place))
        target.check()
        check_interpreter(target.python)
        with _recording(arguments, target) as path:
            # What the script prints is not our answer, so both of its streams go to stderr.
            sink = own_descriptors()[1]
            trial = Trial(target, path, lambda held: _work(held, arguments), bool(arguments.output), (sink, sink))
            with contextlib.closing(trial):
                with forward_signals(trial.run_of_script):
                    ended = trial.go()
                if trial.result is None:
                    raise SeedError(_never_came(ended, target.name, arguments.call))
                return _answer(trial.result, arguments, path)


Answer = WhatIf | JacobianFound


def _work(held: Held, arguments: argparse.Namespace) -> Answer:
    if arguments.jacobian is not None:
        rows = None if arguments.rows is None else _numbers(arguments.rows)
        root = arguments.root[0] if arguments.root else None
        return held.jacobian(arguments.jacobian, root, rows, hooks=arguments.hooks)
    return held.run(arguments.seed, arguments.root, arguments.hooks)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SeedError(tr("{text!r} names no rows; write 0,3.", text=text)) from None


def _answer(found: Answer, arguments: argparse.Namespace, path: str) -> int:
    what_if = found if isinstance(found, WhatIf) else found.what_if
    if arguments.output:
        keep(path, what_if)
    if arguments.json:
        recording = open_recording(what_if.recording)
        try:
            json.dump(json_view(recording), sys.stdout, allow_nan=False)
        finally:
            close_recording(recording)
        sys.stdout.write("\n")
    else:
        lines = lines_of(found) if isinstance(found, WhatIf) else jacobian_lines(found, arguments.jacobian)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
    return 1 if what_if.error is not None else 0


@contextlib.contextmanager
def _recording(arguments: argparse.Namespace, target: Target) -> Iterator[str]:
    """Where the recording goes: the place that was asked for, or one that is gone afterwards."""
    if arguments.output:
        yield claim(arguments.output, target.name, arguments.force, script=target.script)
        return
    with tempfile.TemporaryDirectory(prefix="gradviz-seed-") as folder:
        yield os.path.join(folder, "run.gradviz")


def _never_came(ended: Ended, name: str, label: str) -> str:
    count = 0
    if os.path.exists(ended.recording):
        recording = open_recording(ended.recording)
        count = len(recording.top_calls)
        close_recording(recording)
    how = sentence(ended.outcome, name)
    return trn(
        "The script never came to call {label}: it made {n} call. {how}",
        "The script never came to call {label}: it made {n} calls. {how}",
        count,
        label=label,
        how=how,
    )
