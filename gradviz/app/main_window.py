"""The window: tabs in the middle, docks around them, one bar above and one below."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QToolBar,
    QToolButton,
    QWidget,
)

from gradviz.app.actions import ROWS, make_actions, plain_words
from gradviz.app.commands import Commands
from gradviz.app.dialogs.command_palette import CommandPalette, commands_of
from gradviz.app.docks import Docks
from gradviz.app.elided import ElidedLabel
from gradviz.app.icons import application_icon, icon
from gradviz.app.look import Look
from gradviz.app.menus import Menus
from gradviz.app.running import state_words
from gradviz.app.settings import ThemeChoice
from gradviz.app.tab_buttons import add_close_button, name_tab, paint_close_buttons
from gradviz.app.tabs import Tabs
from gradviz.app.texts import tr
from gradviz.app.welcome_page import WelcomePage
from gradviz.app.workspace import Services, Workspace
from gradviz.model.view import Direction

_FIRST_SIZE = QSize(1600, 1000)


class MainWindow(QMainWindow):
    """One window of gradviz.

    Signals:
        look_asked(): the settings of the look were changed.
        language_asked(): another language was chosen.
    """

    look_asked = Signal()
    language_asked = Signal()

    def __init__(self, services: Services, look: Look) -> None:
        super().__init__()
        self.services = services
        self.look = look
        self.tabs = Tabs(services, self)
        self._commands = Commands(self)
        self.actions_by_name = make_actions(self, look, self._commands.slots())
        for action in self.actions_by_name.values():
            self.addAction(action)
        self.pages = QTabWidget()
        self.welcome = WelcomePage(services, look, self)
        self.transports = QStackedWidget()
        self._middle = QStackedWidget()
        self._bar_actions: dict[str, QAction] = {}
        self._title = QLabel()
        self.state_label = ElidedLabel()
        self.docks = Docks(self, look)
        self.menus = Menus(self)
        self._arrange()
        self.refresh()

    def _arrange(self) -> None:
        self.setWindowTitle("gradviz")
        self.setWindowIcon(application_icon())
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.pages.setDocumentMode(True)
        self.pages.setMovable(False)
        self.pages.tabBar().setDrawBase(False)
        self.pages.setTabBarAutoHide(True)
        self.pages.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its hidden bar would swallow the Tab key
        self.pages.currentChanged.connect(self._show_tab)
        self.tabs.added.connect(self._add)
        self.tabs.removed.connect(self._remove)
        self.tabs.said.connect(self.say)
        self.tabs.changed.connect(self.refresh)
        self.welcome.chosen.connect(self.open_path)
        self.welcome.open_asked.connect(self._commands.open)
        self._middle.addWidget(self.welcome)
        self._middle.addWidget(self.pages)
        self.setCentralWidget(self._middle)
        self._top = self._make_top()
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, self._top)
        self.addToolBar(Qt.ToolBarArea.BottomToolBarArea, self._make_bottom())
        self.statusBar().setSizeGripEnabled(False)
        self.resize(_FIRST_SIZE)
        if not self.restoreGeometry(self.services.settings.place("geometry")):
            self.resize(_FIRST_SIZE.boundedTo(self.screen().availableSize()))
        self.docks.restore(self.services.settings.place("docks"))

    def _make_top(self) -> QToolBar:
        bar = QToolBar(tr("File and run"))
        bar.setObjectName("top")
        bar.setMovable(False)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._title.setProperty("role", "name")
        self.state_label.setProperty("role", "muted")
        words = QWidget()
        layout = QHBoxLayout(words)
        layout.setContentsMargins(4, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(self._title)
        layout.addWidget(self.state_label, 1)
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addWidget(words)
        for name in ("open", "run", "stop", "try-seed", "export", "find"):
            # The bar shows and hides its own action for the button, not the button.
            self._bar_actions[name] = bar.addWidget(self._button(self.actions_by_name[name]))
        return bar

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setProperty("role", "button")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setIconSize(self._icon_size())
        return button

    def _icon_size(self) -> QSize:
        """As high as the letters beside it."""
        side = self.look.text_font.pixelSize() + 3
        return QSize(side, side)

    def _make_bottom(self) -> QToolBar:
        bar = QToolBar(tr("Transport"))
        bar.setObjectName("transport")
        bar.setMovable(False)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.transports.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        bar.addWidget(self.transports)
        self.transport_bar = bar
        return bar

    # -- tabs ----------------------------------------------------------------------------------------------------------

    @property
    def current(self) -> Workspace | None:
        """The tab that is shown."""
        place = self.pages.currentIndex()
        return self.tabs.open_ones[place] if 0 <= place < len(self.tabs.open_ones) else None

    def open_path(self, path: str, python: str | None = None, script_args: Sequence[str] = ()) -> None:
        """Open a script or a recording and show it."""
        tab = self.tabs.open_path(path, python, script_args)
        self.pages.setCurrentWidget(tab.middle)
        self.menus.refresh_recent()

    def turn_tab(self, by: int) -> None:
        """Show another tab."""
        self.pages.setCurrentIndex((self.pages.currentIndex() + by) % max(self.pages.count(), 1))

    def show_palette(self) -> CommandPalette:
        """Show the command palette."""
        palette = CommandPalette(commands_of(self.menuBar()), self)
        palette.begin()
        return palette

    def _add(self, tab: Workspace) -> None:
        tab.session.view_changed.connect(lambda _: self.refresh_actions())
        tab.session.places_changed.connect(self.refresh_actions)
        tab.session.undo_changed.connect(self.refresh_actions)
        tab.session.player.playing_changed.connect(lambda _: self.refresh_actions())
        tab.session.player.settings_changed.connect(self.refresh_actions)
        tab.drawing.set_ratio(self.devicePixelRatioF())
        tab.session.player.reduced_motion = self.services.settings.reduced_motion
        self.docks.add(tab.panels)
        self.transports.addWidget(tab.transport)
        self.pages.addTab(tab.middle, tab.title)
        add_close_button(self.pages, tab.middle, self.look, lambda: self.tabs.close(tab))
        self.pages.setCurrentWidget(tab.middle)
        self._show_tab()

    def _remove(self, tab: Workspace) -> None:
        self.pages.removeTab(self.pages.indexOf(tab.middle))
        self.transports.removeWidget(tab.transport)
        self.docks.remove(tab.panels)

    def _show_tab(self) -> None:
        tab = self.current
        if tab is not None:
            self.docks.show(tab.panels)
            self.transports.setCurrentWidget(tab.transport)
            tab.middle.take_focus()
        self.refresh()

    # -- what is seen of the state -------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show title, state and what can be done."""
        tab = self.current
        self._middle.setCurrentWidget(self.welcome if tab is None else self.pages)
        self.transport_bar.setVisible(tab is not None)
        if tab is None:
            self.welcome.refresh()
        self._title.setText("gradviz" if tab is None else tab.title)
        self.state_label.setText("" if tab is None else state_words(tab.session, tab.running))
        self.setWindowTitle("gradviz" if tab is None else f"{tab.title} – gradviz")
        for place, other in enumerate(self.tabs.open_ones):
            name_tab(self.pages, place, self.tabs.title(other))
        self.docks.set_shown(tab is not None)
        self.refresh_actions()

    def refresh_actions(self) -> None:
        """Enable what can be used now."""
        tab = self.current
        session = None if tab is None else tab.session
        there = {
            "always": True,
            "session": tab is not None,
            "story": session is not None and session.story is not None,
            "run": tab is not None and tab.running.alive,
            "script": session is not None and session.script is not None and not (tab and tab.running.alive),
            "recording": session is not None and session.recording is not None,
            "selection": session is not None and bool(session.selected_ids),
            "selected": session is not None and bool(session.view.selected),
            "bookmarks": session is not None and bool(session.view.bookmarks),
        }
        for row in ROWS:
            self.actions_by_name[row.name].setEnabled(there[row.needs])
        self._show_states(tab)

    def _show_states(self, tab: Workspace | None) -> None:
        actions, look = self.actions_by_name, self.look
        ran = tab is not None and tab.session.recording is not None
        actions["run"].setText(tr("&Run again") if ran else tr("&Run"))
        actions["run"].setIconText(plain_words(actions["run"].text()))
        self._bar_actions["stop"].setVisible(actions["stop"].isEnabled())
        player = None if tab is None else tab.session.player
        playing = player is not None and player.playing
        on_accent = look.on(look.accent).name()
        actions["play"].setIcon(icon("pause" if playing else "play", look, on_accent))
        actions["play"].setText(tr("&Pause") if playing else tr("&Play"))
        actions["loop"].setChecked(player is not None and player.loop)
        wave = tab is not None and tab.session.view.order == "wavefront"
        actions["wave-front"].setChecked(wave)
        actions["engine-order"].setChecked(not wave)
        for flow in ("upstream", "downstream"):
            actions[flow].setChecked(tab is not None and tab.lit == flow)
        stack = None if tab is None else tab.session.undo_stack
        actions["undo"].setEnabled(stack is not None and stack.can_undo)
        actions["redo"].setEnabled(stack is not None and stack.can_redo)
        places = None if tab is None else tab.session.places
        actions["back"].setEnabled(places is not None and places.can_go_back)
        actions["forward"].setEnabled(places is not None and places.can_go_forward)

    def say(self, words: str) -> None:
        """Say something in the status line."""
        self.statusBar().showMessage(words, 15_000)

    # -- looks ---------------------------------------------------------------------------------------------------------

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self.look = look
        for row in ROWS:
            if row.icon is not None:
                self.actions_by_name[row.name].setIcon(icon(row.icon, look))
        self.docks.set_look(look)
        self.welcome.set_look(look)
        paint_close_buttons(self.pages, look)
        for button in self._top.findChildren(QToolButton):
            button.setIconSize(self._icon_size())
        for tab in self.tabs.open_ones:
            tab.set_look(look)
        self.refresh()

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Look otherwise from now on."""
        self.services.settings.theme = choice
        self.look_asked.emit()

    def choose_text_size(self, percent: int) -> None:
        """Write larger or smaller from now on."""
        self.services.settings.font_percent = percent
        self.look_asked.emit()

    def choose_language(self, language: str) -> None:
        """Speak another language: at once, or as soon as no script runs."""
        self.services.settings.language = language
        if any(tab.running.alive for tab in self.tabs.open_ones):
            self.say(tr("The language changes when no script runs any more."))
        self.language_asked.emit()

    def reduce_motion(self, reduced: bool) -> None:
        """Let things jump instead of glide."""
        self.services.settings.reduced_motion = reduced
        for tab in self.tabs.open_ones:
            tab.session.player.reduced_motion = reduced

    def set_direction(self, direction: Direction) -> None:
        """Let gradients flow in another direction on the picture."""
        if self.current is not None:
            self.current.session.change_view(tr("Direction"), direction=direction, camera=None)

    # -- events --------------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """The screen is known now."""
        super().showEvent(event)
        for tab in self.tabs.open_ones:
            tab.drawing.set_ratio(self.devicePixelRatioF())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files can be dropped anywhere."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()
            self.welcome.set_dropping(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """They were carried away."""
        self.welcome.set_dropping(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        self.welcome.set_dropping(False)
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self.open_path(url.toLocalFile())
        event.acceptProposedAction()

    def remember_places(self) -> None:
        """Keep the places of window and docks for the next window."""
        self.services.settings.set_place("geometry", self.saveGeometry())
        self.services.settings.set_place("docks", self.saveState())

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the places of things and let everything go."""
        self.remember_places()
        # They let go of their processes, files and sessions when they are closed, not when they are deleted.
        for child in self.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if isinstance(child, QDialog):
                child.reject()
            elif child.isWindow():
                child.close()
        for tab in tuple(self.tabs.open_ones):
            self.tabs.close(tab)
        self.welcome.close_pictures()  # closing the last tab has brought the page back
        event.accept()
