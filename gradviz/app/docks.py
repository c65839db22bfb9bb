"""The panels around the graph as docks: a quiet title, a place at first, one page for each tab."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QMainWindow, QStackedWidget, QToolButton, QWidget

from gradviz.app.icons import icon
from gradviz.app.look import Look
from gradviz.app.texts import tr

_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
# Name, area at first, share of the window's height in percent.
_PLACES = (
    ("source", _LEFT, 42),
    ("calls", _LEFT, 27),
    ("findings", _LEFT, 31),
    ("inspector", _RIGHT, 66),
    ("console", _RIGHT, 34),
)
_WIDTHS = (350, 350)
_LEAST_WIDTH = 230  # in which nothing of the inspector is cut off


class Docks(QObject):
    """The docks of a window. Each is a stack with a page for every tab."""

    def __init__(self, window: QMainWindow, look: Look) -> None:
        super().__init__(window)
        self._window = window
        self.docks: dict[str, QDockWidget] = {}
        self._stacks: dict[str, QStackedWidget] = {}
        self._open: list[QDockWidget] | None = None  # what to show again when a tab is opened
        self._state = QByteArray()  # their places and sizes then
        # A dock that comes back takes its room from its neighbours. They get it again when the bar below is there too.
        self._settling = QTimer(self, singleShot=True, interval=0)
        self._settling.timeout.connect(self._settle)
        titles = (tr("Source"), tr("Calls"), tr("Findings"), tr("Node"), tr("Console"))
        for (name, area, _), title in zip(_PLACES, titles, strict=True):
            dock = QDockWidget(title, window)
            dock.setObjectName(f"dock-{name}")
            dock.setTitleBarWidget(_TitleBar(dock, look))
            stack = QStackedWidget()
            stack.setMinimumWidth(_LEAST_WIDTH)
            dock.setWidget(stack)
            window.addDockWidget(area, dock)
            self.docks[name] = dock
            self._stacks[name] = stack

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        for dock in self.docks.values():
            bar = dock.titleBarWidget()
            if isinstance(bar, _TitleBar):
                bar.set_look(look)

    def add(self, panels: Mapping[str, QWidget]) -> None:
        """Take the panels of a new tab."""
        for name, panel in panels.items():
            self._stacks[name].addWidget(panel)

    def show(self, panels: Mapping[str, QWidget]) -> None:
        """Show the panels of a tab."""
        for name, panel in panels.items():
            self._stacks[name].setCurrentWidget(panel)

    def remove(self, panels: Mapping[str, QWidget]) -> None:
        """Let go of the panels of a tab."""
        for name, panel in panels.items():
            self._stacks[name].removeWidget(panel)

    def set_shown(self, shown: bool) -> None:
        """Hide all docks while no tab is open; those that the user closed stay closed when one is."""
        for stack in self._stacks.values():
            stack.setEnabled(shown)
        if not shown and self._open is None:
            if self._window.isVisible() and not self._settling.isActive():
                self._state = self._window.saveState()
            self._settling.stop()
            self._open = [dock for dock in self.docks.values() if not dock.isHidden()]
            for dock in self._open:
                dock.hide()
        elif shown and self._open is not None:
            for dock in self._open:
                dock.show()
            self._open = None
            self._settling.start()

    def restore(self, state: QByteArray) -> None:
        """Put the docks where they were when a window was closed; `state` is empty where there was none."""
        self._state = state
        self._settle()

    def _settle(self) -> None:
        layout = self._window.layout()
        if layout is not None:
            layout.activate()
        if not self._window.restoreState(self._state):
            self.spread()

    def reset(self) -> None:
        """Put every dock where it was at first."""
        self._settling.stop()
        for name, area, _ in _PLACES:
            dock = self.docks[name]
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
            dock.show()
        self.spread()

    def spread(self) -> None:
        """Give the docks their first sizes."""
        window = self._window
        for area in (_LEFT, _RIGHT):
            here = [(self.docks[name], share) for name, where, share in _PLACES if where == area]
            height = max(window.height() - 160, 300)
            window.resizeDocks([d for d, _ in here], [height * s // 100 for _, s in here], Qt.Orientation.Vertical)
        ends = [self.docks["source"], self.docks["inspector"]]
        window.resizeDocks(ends, list(_WIDTHS), Qt.Orientation.Horizontal)


class _TitleBar(QWidget):
    """A grey word; the buttons come when the mouse is here or the keyboard."""

    def __init__(self, dock: QDockWidget, look: Look) -> None:
        super().__init__(dock)
        self._dock = dock
        self._label = QLabel(dock.windowTitle().upper())
        self._label.setProperty("role", "section")
        self._float = QToolButton()
        self._close = QToolButton()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 7, 6, 3)
        layout.setSpacing(0)
        layout.addWidget(self._label)
        layout.addStretch(1)
        for button, words in (
            (self._float, tr("Move {name} into a window of its own", name=dock.windowTitle())),
            (self._close, tr("Hide {name}", name=dock.windowTitle())),
        ):
            button.setToolTip(words)
            button.setAccessibleName(words)
            button.setIconSize(QSize(12, 12))
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the Panels menu does the same by keyboard
            layout.addWidget(button)
        self._float.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self._close.clicked.connect(dock.close)
        self.set_look(look)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self._float.setIcon(icon("float", look, look.muted.name()))
        self._close.setIcon(icon("close", look, look.muted.name()))
