"""The menu bar, made from the table of actions and from lists that change."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from gradviz.app.actions import MENUS, SEPARATOR
from gradviz.app.settings import ThemeChoice
from gradviz.app.texts import tr
from gradviz.app.views_menu import ViewsMenu
from gradviz.model.view import Direction

if TYPE_CHECKING:
    from gradviz.app.main_window import MainWindow

TEXT_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)


class Menus(QObject):
    """The menus of a window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._recent = QMenu(tr("Open &recent"))
        fillers: dict[str, Callable[[QMenu], None]] = {
            "@recent": self._put_recent,
            "@direction": self._put_directions,
            "@theme": self._put_themes,
            "@text-size": self._put_sizes,
            "@panels": self._put_panels,
            "@language": self._put_languages,
            "@views": self._put_views,
        }
        for title, names in MENUS:
            menu = window.menuBar().addMenu(tr(title))
            menu.setToolTipsVisible(True)
            for name in names:
                if name == SEPARATOR:
                    menu.addSeparator()
                elif name in fillers:
                    fillers[name](menu)
                else:
                    menu.addAction(window.actions_by_name[name])
        self.refresh_recent()

    def refresh_recent(self) -> None:
        """List the files that were opened last."""
        for old in self._recent.actions():
            # Later: this is also called by one of them, and an action that is deleted at work takes the process along.
            self._recent.removeAction(old)
            old.deleteLater()
        for path in self._window.services.settings.recent:
            action = self._recent.addAction(os.path.basename(path))
            action.setToolTip(path)
            action.triggered.connect(lambda _=False, path=path: self._window.open_path(path))
        self._recent.setEnabled(not self._recent.isEmpty())
        self._recent.addSeparator()
        self._recent.addAction(tr("Forget these")).triggered.connect(self._forget)

    def _forget(self) -> None:
        self._window.services.settings.forget_recent()
        self.refresh_recent()

    def _put_recent(self, menu: QMenu) -> None:
        self._recent.setToolTipsVisible(True)
        menu.addMenu(self._recent)

    def _put_views(self, menu: QMenu) -> None:
        self.views = ViewsMenu(lambda: self._window.current, self._window.say)
        menu.addMenu(self.views)

    def _put_directions(self, menu: QMenu) -> None:
        words: tuple[tuple[Direction, str], ...] = (
            ("RL", tr("Gradient flows to the left")),
            ("LR", tr("Gradient flows to the right")),
            ("TB", tr("Gradient flows down")),
            ("BT", tr("Gradient flows up")),
        )
        inside = menu.addMenu(tr("&Direction"))
        group = QActionGroup(inside)
        for direction, text in words:
            action = inside.addAction(text)
            action.setCheckable(True)
            action.setData(direction)
            group.addAction(action)
            action.triggered.connect(lambda _=False, d=direction: self._window.set_direction(d))
        inside.aboutToShow.connect(lambda: self._show_direction(group))

    def _show_direction(self, group: QActionGroup) -> None:
        tab = self._window.current
        for action in group.actions():
            action.setEnabled(tab is not None)
            action.setChecked(tab is not None and action.data() == tab.session.view.direction)

    def _put_themes(self, menu: QMenu) -> None:
        words: tuple[tuple[ThemeChoice, str], ...] = (
            ("system", tr("As the system")),
            ("light", tr("Light")),
            ("dark", tr("Dark")),
            ("contrast", tr("High contrast")),
        )
        inside = menu.addMenu(tr("&Theme"))
        group = QActionGroup(inside)
        for choice, text in words:
            action = inside.addAction(text)
            action.setCheckable(True)
            action.setChecked(self._window.services.settings.theme == choice)
            group.addAction(action)
            action.triggered.connect(lambda _=False, c=choice: self._window.choose_theme(c))
        inside.addSeparator()
        motion = inside.addAction(tr("Reduced &motion"))
        motion.setCheckable(True)
        motion.setChecked(self._window.services.settings.reduced_motion)
        motion.toggled.connect(self._window.reduce_motion)

    def _put_sizes(self, menu: QMenu) -> None:
        inside = menu.addMenu(tr("Te&xt size"))
        group = QActionGroup(inside)
        for percent in TEXT_SIZES:
            action = inside.addAction(f"{percent} %")
            action.setCheckable(True)
            action.setChecked(self._window.services.settings.font_percent == percent)
            group.addAction(action)
            action.triggered.connect(lambda _=False, p=percent: self._window.choose_text_size(p))

    def _put_languages(self, menu: QMenu) -> None:
        words = (("system", tr("As the system")), ("en", tr("English")), ("zh_CN", tr("Simplified Chinese")))
        inside = menu.addMenu(tr("&Language"))
        group = QActionGroup(inside)
        for language, text in words:
            action = inside.addAction(text)
            action.setCheckable(True)
            action.setChecked(self._window.services.settings.language == language)
            group.addAction(action)
            action.triggered.connect(lambda _=False, chosen=language: self._window.choose_language(chosen))

    def _put_panels(self, menu: QMenu) -> None:
        inside = menu.addMenu(tr("&Panels"))
        for dock in self._window.docks.docks.values():
            inside.addAction(dock.toggleViewAction())
