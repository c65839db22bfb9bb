"""The buttons that close the tabs, in the style of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QTabBar, QTabWidget, QToolButton, QWidget

from gradviz.app.icons import icon
from gradviz.app.look import Look
from gradviz.app.texts import tr


def add_close_button(pages: QTabWidget, page: QWidget, look: Look, close: Callable[[], None]) -> None:
    """Give the tab of `page` a button that calls `close`. The keyboard closes tabs by its own shortcut."""
    button = QToolButton()
    button.setProperty("role", "flat")
    button.setIconSize(QSize(13, 13))
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.clicked.connect(lambda: close())
    button.setIcon(icon("close", look, look.muted.name()))
    pages.tabBar().setTabButton(pages.indexOf(page), QTabBar.ButtonPosition.RightSide, button)


def name_tab(pages: QTabWidget, place: int, name: str) -> None:
    """Write the name of a tab, and of what its button closes."""
    pages.setTabText(place, name)
    button = pages.tabBar().tabButton(place, QTabBar.ButtonPosition.RightSide)
    if button is not None:
        button.setToolTip(tr("Close {name}", name=name))
        button.setAccessibleName(tr("Close {name}", name=name))


def paint_close_buttons(pages: QTabWidget, look: Look) -> None:
    """Take other colours."""
    for place in range(pages.count()):
        button = pages.tabBar().tabButton(place, QTabBar.ButtonPosition.RightSide)
        if isinstance(button, QToolButton):
            button.setIcon(icon("close", look, look.muted.name()))
