"""Every action of the window, in one table: its words, its keys, what it says of itself, and where it is in a menu."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from gradviz.app.icons import icon
from gradviz.app.look import Look
from gradviz.app.texts import tr

SEPARATOR = ""


@dataclass(frozen=True, slots=True)
class Row:
    """An action. `keys` are portable names of key sequences; `group` makes actions exclude each other.

    `needs` says when it can be used: "always", "session" (a tab is open), "story" (a graph is shown), "run" (a script
    runs), "script" (a script that can be run), "recording", "selection" (a node is selected), "selected" (anything is),
    "bookmarks".
    """

    name: str
    text: str
    tip: str
    keys: tuple[str, ...] = ()
    icon: str | None = None
    needs: str = "always"
    checkable: bool = False
    group: str | None = None


def _mark(text: str) -> str:
    """Marks a text for translation; it is translated when the action is made."""
    return text


N = _mark

# fmt: off
ROWS: tuple[Row, ...] = (
    Row("open", N("&Open …"), N("Open a script, a notebook or a recording"), ("Ctrl+O",), "open"),
    Row("save-as", N("&Save the recording as …"),
        N("Keep this recording in a file"), ("Ctrl+Shift+S",), "save", "recording"),
    Row("export", N("&Export …"), N("Write what is seen as a picture or an animation"), ("Ctrl+E",), "export", "story"),
    Row("copy-picture", N("&Copy the picture"),
        N("Put what is seen on the clipboard"), ("Ctrl+Shift+C",), "copy", "story"),
    Row("close-tab", N("&Close the tab"), N("Close this script or recording"), ("Ctrl+W",), "close", "session"),
    Row("next-tab", N("&Next tab"), N("Show the tab to the right"), ("Ctrl+PgDown", "Ctrl+Tab"), None, "session"),
    Row("previous-tab", N("&Previous tab"), N("Show the tab to the left"),
        ("Ctrl+PgUp", "Ctrl+Shift+Tab"), None, "session"),
    Row("quit", N("&Quit"), N("End gradviz"), ("Ctrl+Q",)),
    Row("run", N("&Run"),
        N("Run the script and record what its backward calls do"), ("F5", "Ctrl+R"), "run-again", "script"),
    Row("stop", N("&Stop"), N("Stop the script; what was recorded is kept"), ("Shift+F5",), "stop", "run"),
    Row("run-options", N("Run &with …"),
        N("Choose the interpreter, the arguments and the folder"), ("Ctrl+F5",), None, "script"),
    Row("try-seed", N("&Try another seed …"),
        N("Run this call again with another seed, and see what the engine does with it"), ("T",), "seed", "story"),
    Row("jacobian", N("&Jacobian …"),
        N("See all rows from which the seed of this call picks, and what it makes of them"), ("J",), None, "story"),
    Row("forget-trust", N("&Ask again before running"), N("Forget which scripts and folders may run")),
    Row("undo", N("&Undo"), N("Undo the last change of the view"), ("Ctrl+Z",), None, "session"),
    Row("redo", N("&Redo"), N("Do it again"), ("Ctrl+Shift+Z", "Ctrl+Y"), None, "session"),
    Row("back", N("&Back"), N("Go to the place that was looked at before"), ("Alt+Left",), "back", "session"),
    Row("forward", N("&Forward"), N("Go to the place that was left by Back"), ("Alt+Right",), "forward", "session"),
    Row("fit", N("&Fit"), N("See the whole graph"), ("Ctrl+0", "F"), "fit", "story"),
    Row("actual-size", N("&100 %"), N("See the graph at its own size"), ("Ctrl+1",), None, "story"),
    Row("zoom-selection", N("Zoom to the &selection"),
        N("See the selected nodes large"), ("Ctrl+2",), None, "selection"),
    Row("zoom-in", N("Zoom &in"), N("See less, larger"), ("Ctrl++", "Ctrl+="), "zoom-in", "story"),
    Row("zoom-out", N("Zoom &out"), N("See more, smaller"), ("Ctrl+-",), "zoom-out", "story"),
    Row("unfold", N("&Unfold"), N("Show what is in the selected group"), ("Ctrl+Shift+]",), None, "selected"),
    Row("fold", N("Fo&ld"), N("Show the group around the selected box as one box"),
        ("Ctrl+Shift+[",), None, "selected"),
    Row("unfold-all", N("Unfold &everything"), N("Show every node by itself"), (), None, "story"),
    Row("fold-all", N("F&old as at first"), N("Show as many boxes as can be read at a glance"), (), None, "story"),
    Row("go-left", N("Box to the &left"), N("Select the next box to the left, along an edge if there is one"),
        ("Ctrl+Left",), None, "story"),
    Row("go-right", N("Box to the &right"), N("Select the next box to the right, along an edge if there is one"),
        ("Ctrl+Right",), None, "story"),
    Row("go-up", N("Box &above"), N("Select the next box above, along an edge if there is one"),
        ("Ctrl+Up",), None, "story"),
    Row("go-down", N("Box &below"), N("Select the next box below, along an edge if there is one"),
        ("Ctrl+Down",), None, "story"),
    Row("upstream", N("&Where this gradient comes from"), N("Show only what hands gradient to the selection"),
        ("U",), None, "selected", True),
    Row("downstream", N("Where this gradient &goes"), N("Show only what gets gradient from the selection"),
        ("D",), None, "selected", True),
    Row("bookmark", N("&Bookmark"), N("Mark the selected boxes, or take the mark away"),
        ("Ctrl+B",), "bookmark", "selected"),
    Row("next-bookmark", N("&Next bookmark"), N("Select the next marked box"), ("Ctrl+Shift+B",), None, "bookmarks"),
    Row("compare", N("&Compare with …"), N("See this call and another one side by side"), (), None, "story"),
    Row("find", N("&Find …"), N("Find nodes by name, op, line, module or shape"), ("Ctrl+F",), "find", "story"),
    Row("palette", N("Command &palette …"), N("Find any action by its name"), ("Ctrl+Shift+P",)),
    Row("play", N("&Play"), N("Play or pause"), ("Space",), "play", "story"),
    Row("step-forward", N("Step &forward"), N("One step of the engine on"), ("Right",), "step-forward", "story"),
    Row("step-back", N("Step &back"), N("One step of the engine back"), ("Left",), "step-back", "story"),
    Row("call-forward", N("&Next call"), N("On to the next call"), ("Shift+Right",), "call-forward", "story"),
    Row("call-back", N("&Previous call"),
        N("Back to the start of this call, or of the one before"), ("Shift+Left",), "call-back", "story"),
    Row("to-start", N("To the &start"), N("Before anything has moved"), ("Home",), None, "story"),
    Row("to-end", N("To the &end"), N("Everything has arrived"), ("End",), None, "story"),
    Row("faster", N("F&aster"), N("Play faster"), ("]",), None, "story"),
    Row("slower", N("S&lower"), N("Play slower"), ("[",), None, "story"),
    Row("loop", N("L&oop"), N("Begin again at the end"), ("L",), "loop", "story", True),
    Row("play-to-node", N("Play to this n&ode"),
        N("Play until the selected node has handed on its gradient"), ("Ctrl+Return",), None, "selection"),
    Row("engine-order", N("Engine order"),
        N("One node after the other, as the engine really ran them"), (), None, "story", True, "order"),
    Row("wave-front", N("Wave front"),
        N("All nodes that are ready at the same time together"), (), None, "story", True, "order"),
    Row("reset-docks", N("&Reset the panels"), N("Put all panels back where they were at first")),
    Row("register", N("Add gradviz to the &desktop"), N("A menu entry, an icon, and recordings open with gradviz")),
    Row("finding-pages", N("&Findings explained"), N("What can go wrong with gradients, why, and what to do")),
    Row("about", N("&About gradviz"), N("Version, fonts and folders")),
)
# fmt: on

MENUS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        N("&File"),
        (
            *("open", "@recent", SEPARATOR, "save-as", "export", "copy-picture", SEPARATOR, "close-tab"),
            *("next-tab", "previous-tab", SEPARATOR, "quit"),
        ),
    ),
    (N("&Run"), ("run", "stop", "run-options", SEPARATOR, "try-seed", "jacobian", SEPARATOR, "forget-trust")),
    (
        N("&View"),
        (
            *(
                "fit",
                "actual-size",
                "zoom-selection",
                "zoom-in",
                "zoom-out",
                SEPARATOR,
                "undo",
                "redo",
                "back",
                "forward",
            ),
            *(SEPARATOR, "@views", "unfold", "fold", "unfold-all", "fold-all"),
            *(SEPARATOR, "@direction", "@theme", "@text-size", "@language", SEPARATOR, "@panels", "reset-docks"),
        ),
    ),
    (
        N("&Play"),
        (
            *("play", "step-forward", "step-back", "call-forward", "call-back", SEPARATOR, "to-start", "to-end"),
            *(SEPARATOR, "faster", "slower", "loop", "play-to-node", SEPARATOR, "engine-order", "wave-front"),
        ),
    ),
    (
        N("&Go"),
        (
            *(
                "find",
                "compare",
                SEPARATOR,
                "go-left",
                "go-right",
                "go-up",
                "go-down",
                SEPARATOR,
                "upstream",
                "downstream",
            ),
            *(SEPARATOR, "bookmark", "next-bookmark", SEPARATOR, "palette"),
        ),
    ),
    (N("&Help"), ("finding-pages", "register", "about")),
)


def make_actions(parent: QObject, look: Look, slots: Mapping[str, Callable[[], None]]) -> dict[str, QAction]:
    """All actions, connected to the slots of the same names."""
    actions: dict[str, QAction] = {}
    groups: dict[str, QActionGroup] = {}
    for row in ROWS:
        action = QAction(tr(row.text), parent)
        action.setIconText(plain_words(action.text()))  # what a button shows, where nothing has marks
        action.setObjectName(row.name)
        action.setShortcuts([QKeySequence(keys) for keys in row.keys])
        action.setCheckable(row.checkable)
        action.setToolTip(tip_of(row))
        action.setStatusTip(tr(row.tip))
        if row.icon is not None:
            action.setIcon(icon(row.icon, look))
        if row.group is not None:
            groups.setdefault(row.group, QActionGroup(parent)).addAction(action)
        action.triggered.connect(lambda _=False, slot=slots[row.name]: slot())
        actions[row.name] = action
    return actions


def plain_words(text: str) -> str:
    """The words of a menu entry without its marks: `&Open …` is `Open`, `导出(&E)…` is `导出`."""
    return re.sub(r"\(&\w\)", "", text).replace("&", "").removesuffix("…").rstrip()


def tip_of(row: Row) -> str:
    """What an action does, with its keys."""
    keys = QKeySequence(row.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if row.keys else ""
    return f"{tr(row.tip)} ({keys})" if keys else tr(row.tip)
