"""`gradviz export`: a picture or an animation of a recording or a script."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradviz.cli.numbers import real, whole
from gradviz.cli.opened import opened
from gradviz.errors import ExportError, UsageError
from gradviz.model import ViewState
from gradviz.texts import ENGLISH, LANGUAGES, handed_on, tr, use_language

if TYPE_CHECKING:
    from gradviz.export import ExportOptions

_BAR = 30  # characters of the progress bar
CANCELLED = 130  # exit status after Ctrl-C, as a shell has it


class Export:
    """Write a picture (png, svg, pdf, dot) or an animation (gif, apng, webp, mp4, html) of a recording or a script.

    The suffix of OUT chooses the format; OUT with %d (frame-%04d.png) writes numbered pictures. A script is run and
    recorded first, into a temporary file. Drawing is done offscreen, the same way on every machine with the same fonts.

    examples:
      gradviz export run.gradviz -o picture.svg
      gradviz export train.py -o steps.gif --call 2 --width 800
      gradviz export run.gradviz -o figure.pdf --theme print --expand all
    """

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument("path", metavar="RECORDING|SCRIPT")
        parser.add_argument("-o", "--output", required=True, metavar="OUT", help=tr("the file to write"))
        parser.add_argument("--force", action="store_true", help=tr("overwrite an existing file"))
        parser.add_argument("--python", metavar="PATH", help=tr("the Python that runs the script"))
        _what(parser.add_argument_group(tr("what is shown")))
        _how(parser.add_argument_group(tr("how it is drawn")))

    def run(self, arguments: argparse.Namespace) -> int:
        """Export, and say what was written and with which fonts."""
        # The product's own platform of drawing; a screen must not change the picture.
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        try:
            from gradviz.export import ExportCancelledError, check_output, export
        except ImportError as error:
            raise ExportError(
                tr("Pictures need PySide6, which cannot be loaded ({why}). Install gradviz-desktop whole.", why=error)
            ) from error
        # A figure is the same whoever makes it, so its texts do not follow the system; the messages about it do.
        use_language(*handed_on(), pictures=arguments.language)
        options = options_of(arguments)
        output = Path(arguments.output)
        check_output(output, options)
        _spare_sources(output, arguments)
        with opened(arguments) as recording, _interruptible() as cancelled:
            try:
                result = export(recording, output, options, progress_bar(), cancelled)
            except ExportCancelledError:
                sys.stderr.write("\n" + tr("gradviz: stopped; nothing was written.") + "\n")
                return CANCELLED
        for note in result.notes:
            sys.stderr.write(f"gradviz: {note}\n")
        sys.stderr.write(tr("gradviz: wrote {path} ({fonts}).", path=str(result.path), fonts=result.fonts) + "\n")
        return 0


def _spare_sources(output: Path, arguments: argparse.Namespace) -> None:
    """Refuse to put the picture in the place of what it is made from, whatever --force says."""
    for source in (arguments.path, arguments.view, arguments.story):
        if source is not None and output.exists() and os.path.exists(source) and output.samefile(source):
            raise ExportError(tr("{path!r} is what the picture is made from. Name another file.", path=str(output)))


def _what(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--call", metavar="LABEL", help=tr("this call only (2, or nested 2.1)"))
    group.add_argument("--step", type=whole(0), metavar="K", help=tr("the K-th engine step of the call; 0 is the seed"))
    group.add_argument("--time", type=real(least=0), metavar="SECONDS", help=tr("a moment of the animation"))
    group.add_argument("--expand", nargs="+", default=[], metavar="KEY", help=tr("unfold these groups, or `all`"))
    group.add_argument("--fold", nargs="+", default=[], metavar="KEY", help=tr("fold these groups, or `all`"))
    group.add_argument(
        "--filter",
        nargs="+",
        default=[],
        metavar="WORD",
        help=tr(
            "views of the graph: call-only (one call), no-grad (what got none), upstream:NODE (from it to the root), "
            "downstream:NODE (what it reaches), between:NODE|NODE, no-leaves, fold-leaves (into their operation), "
            "no-constants; a node is told by key or name"
        ),
    )
    group.add_argument("--view", metavar="FILE", help=tr("a view that was saved by the window"))
    group.add_argument("--direction", choices=("RL", "LR", "TB", "BT"), help=tr("where gradients flow (RL)"))
    group.add_argument("--order", choices=("engine", "wavefront"), help=tr("how an animation plays"))
    group.add_argument(
        "--area", choices=("whole", "view", "selection"), default="whole", help=tr("of the view's picture")
    )
    group.add_argument("--viewport", type=_viewport, default=(1200, 800), metavar="WxH", help=tr("for --area view"))
    group.add_argument("--story", metavar="FILE", help=tr("tell a story: views, durations, captions"))
    group.add_argument("--title", help=tr("a title of your own"))
    group.add_argument("--no-legend", action="store_true", help=tr("leave the colour legend out"))
    group.add_argument("--no-steps", action="store_true", help=tr("leave the numbers of steps out"))
    group.add_argument("--no-captions", action="store_true", help=tr("leave the sentence above the graph out"))


def _how(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--theme", choices=("light", "dark", "print", "contrast"))
    group.add_argument(
        "--range", nargs=2, type=real(), metavar=("LOW", "HIGH"), help=tr("fixed ends of the colours, in decades")
    )
    group.add_argument("--scale", type=real(above=0), metavar="X", help=tr("pixels per unit of the drawing"))
    group.add_argument("--width", type=whole(1), metavar="PIXELS")
    group.add_argument("--width-cm", type=real(above=0), metavar="CM", help=tr("width on paper"))
    group.add_argument("--dpi", type=real(above=0))
    group.add_argument("--transparent", action="store_true", help=tr("no ground"))
    group.add_argument("--engine", choices=("auto", "layered", "dot", "wasi"), default="auto", help=tr("the layout"))
    group.add_argument("--format", help=tr("when the suffix does not tell it"))
    group.add_argument("--fps", type=real(above=0), help=tr("frames per second of an animation"))
    group.add_argument("--speed", type=real(above=0), default=1.0)
    group.add_argument(
        "--hold", type=real(least=0), default=2.0, metavar="SECONDS", help=tr("how long its end is shown")
    )
    group.add_argument(
        "--language", choices=LANGUAGES, default=ENGLISH, help=tr("language of the texts in the picture (en)")
    )


def options_of(arguments: argparse.Namespace) -> ExportOptions:
    """`ExportOptions` from the words of the command.

    Raises:
        UsageError: the view file cannot be read or is none.
    """
    from gradviz.export import ExportOptions, read_story

    view = _view(arguments.view)
    changes: dict[str, Any] = {
        name: value for name in ("direction", "order", "title") if (value := getattr(arguments, name))
    }
    if arguments.no_legend:
        changes["legend"] = False
    if arguments.no_captions:
        changes["captions"] = False
    if arguments.no_steps:
        changes["steps"] = False
    if arguments.range is not None:
        changes["scale_range"] = _decades(*arguments.range)
    if arguments.filter:
        changes["filters"] = (*view.filters, *arguments.filter)
    same = ("call", "step", "time", "theme", "scale", "width", "width_cm", "dpi", "transparent", "engine", "format")
    return ExportOptions(
        view=replace(view, **changes),
        story=None if arguments.story is None else read_story(_text(arguments.story)),
        expand=("*",) if "all" in arguments.expand else tuple(arguments.expand),
        fold=("*",) if "all" in arguments.fold else tuple(arguments.fold),
        **{name: getattr(arguments, name) for name in (*same, "fps", "speed", "hold", "force", "area", "viewport")},
    )


def _decades(low: float, high: float) -> tuple[float, float]:
    if not low < high:
        raise UsageError(tr("--range needs a low and a higher decade, such as -6 0."))
    return low, high


def _view(path: str | None) -> ViewState:
    return ViewState() if path is None else ViewState.from_json(_text(path))


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(tr("The file {path!r} cannot be read: {why}.", path=path, why=error)) from error


def _viewport(text: str) -> tuple[int, int]:
    """`1200x800` as two numbers."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise argparse.ArgumentTypeError(tr("{text!r} is no size such as 1200x800", text=text))
    return int(width), int(height)


def progress_bar() -> Callable[[int, int], None]:
    """A bar on stderr where that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        return lambda done, total: None

    def show(done: int, total: int) -> None:
        filled = _BAR * done // max(total, 1)
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total}")
        if done >= total:
            sys.stderr.write("\n")
        sys.stderr.flush()

    return show


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a wish that the export asks for, so that no half file stays; the second one kills."""
    asked = False

    def note(number: int, frame: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
