"""What the actions of the window do: one method each, named like the action."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from gradviz import __version__
from gradviz.app.desktop import register
from gradviz.app.dialogs.finding_page import show_finding_page
from gradviz.app.graph.viewport import ZOOM_STEP
from gradviz.app.player import SPEEDS
from gradviz.app.texts import tr
from gradviz.render import fonts

if TYPE_CHECKING:
    from gradviz.app.main_window import MainWindow
    from gradviz.app.workspace import Workspace

RECORDINGS = "*.gradviz"
OPENABLE = "*.py *.ipynb *.gradviz"


class Commands:
    """The slots of one window's actions."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def slots(self) -> Mapping[str, Callable[[], None]]:
        """The name of an action -> what it does: the method of the same name, with `_` for `-`."""
        names = [name for name in vars(Commands) if not name.startswith("_") and name != "slots"]
        return {name.replace("_", "-"): getattr(self, name) for name in names}

    @property
    def _tab(self) -> Workspace:
        tab = self._window.current
        assert tab is not None  # actions that need a tab are disabled without one
        return tab

    # -- file ----------------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Choose files and open them."""
        window, settings = self._window, self._window.services.settings
        kinds = f"{tr('Scripts, notebooks and recordings')} ({OPENABLE});;{tr('All files')} (*)"
        paths, _ = QFileDialog.getOpenFileNames(window, tr("Open"), settings.folder("open"), kinds)
        if paths:
            settings.set_folder("open", os.path.dirname(paths[0]))
        for path in paths:
            window.open_path(path)

    def save_as(self) -> None:
        """Keep the recording under a name of the user's."""
        window, tab = self._window, self._tab
        loaded = tab.session.loaded
        if loaded is None:
            return
        name = os.path.splitext(tab.title)[0] + ".gradviz"
        start = os.path.join(window.tabs.folder(tab, "save"), name)
        path, _ = QFileDialog.getSaveFileName(
            window, tr("Save the recording as"), start, f"{tr('Recordings')} ({RECORDINGS})"
        )
        if path:
            window.services.settings.set_folder("save", os.path.dirname(path))
            window.tabs.save(tab, path if os.path.splitext(path)[1] else path + ".gradviz")

    def export(self) -> None:
        """Write what is seen to a file."""
        self._window.tabs.export(self._tab)

    def copy_picture(self) -> None:
        """Put what is seen on the clipboard."""
        QGuiApplication.clipboard().setPixmap(self._tab.middle.picture())
        self._window.say(tr("The picture is on the clipboard."))

    def close_tab(self) -> None:
        """Close the tab."""
        self._window.tabs.close(self._tab)

    def next_tab(self) -> None:
        """Show the tab to the right, after the last one the first."""
        self._window.turn_tab(1)

    def previous_tab(self) -> None:
        """Show the tab to the left."""
        self._window.turn_tab(-1)

    def quit(self) -> None:
        """Close the window."""
        self._window.close()

    # -- run -----------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the script, after a question where it is needed."""
        self._window.tabs.run(self._tab)

    def stop(self) -> None:
        """Stop the script."""
        self._tab.running.stop()

    def run_options(self) -> None:
        """Show what would run and let it be changed."""
        self._window.tabs.ask(self._tab)

    def try_seed(self) -> None:
        """Run the call that is shown again with another seed; at the selected node when one is selected."""
        self._tab.seeds.try_shown()

    def jacobian(self) -> None:
        """See the Jacobian of the call that is shown; by the selected node when one is selected."""
        self._tab.jacobians.open_shown()

    def forget_trust(self) -> None:
        """Ask again for every script."""
        self._window.services.settings.forget_trust()
        self._window.say(tr("gradviz will ask again before it runs a script."))

    # -- view ----------------------------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Undo a change of the view."""
        self._tab.session.undo()

    def redo(self) -> None:
        """Redo it."""
        self._tab.session.redo()

    def back(self) -> None:
        """Go to the place before."""
        self._tab.session.go_back()

    def forward(self) -> None:
        """Go to the place after."""
        self._tab.session.go_forward()

    def fit(self) -> None:
        """See everything."""
        self._tab.middle.view.fit()

    def actual_size(self) -> None:
        """See one pixel per unit."""
        self._tab.middle.view.set_zoom(1.0)

    def zoom_selection(self) -> None:
        """See the selected boxes."""
        self._tab.show_selection()

    def zoom_in(self) -> None:
        """See less."""
        self._tab.middle.view.zoom_by(ZOOM_STEP)

    def zoom_out(self) -> None:
        """See more."""
        self._tab.middle.view.zoom_by(1 / ZOOM_STEP)

    def unfold(self) -> None:
        """Show what is in the selected group."""
        self._tab.unfold_selection()

    def fold(self) -> None:
        """Show the group around the selection as one box."""
        self._tab.fold_selection()

    def unfold_all(self) -> None:
        """Show every node."""
        self._tab.session.change_view(tr("Unfold everything"), expanded=("*",), folded=(), camera=None)

    def fold_all(self) -> None:
        """Fold as at first."""
        self._tab.session.change_view(tr("Fold as at first"), expanded=(), folded=(), camera=None)

    def reset_docks(self) -> None:
        """Put the docks back."""
        self._window.docks.reset()

    # -- play ----------------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play or pause."""
        self._tab.session.player.toggle()

    def step_forward(self) -> None:
        """One beat on."""
        self._tab.session.player.step(1)

    def step_back(self) -> None:
        """One beat back."""
        self._tab.session.player.step(-1)

    def call_forward(self) -> None:
        """On to the next call."""
        self._tab.session.player.step_call(1)

    def call_back(self) -> None:
        """Back to the start of a call."""
        self._tab.session.player.step_call(-1)

    def to_start(self) -> None:
        """To the first moment."""
        self._tab.session.player.seek(0.0)

    def to_end(self) -> None:
        """To the last moment."""
        player = self._tab.session.player
        if player.timeline is not None:
            player.seek(float(player.timeline.length))

    def faster(self) -> None:
        """Play faster."""
        self._change_speed(1)

    def slower(self) -> None:
        """Play slower."""
        self._change_speed(-1)

    def loop(self) -> None:
        """Begin again at the end."""
        player = self._tab.session.player
        player.set_loop(not player.loop)

    def play_to_node(self) -> None:
        """Play until the selected node has run."""
        ids = self._tab.session.selected_ids
        if ids:
            self._tab.session.player.play_to(ids[0])

    def engine_order(self) -> None:
        """Play node after node."""
        self._tab.session.change_view(tr("Engine order"), order="engine", time=None)

    def wave_front(self) -> None:
        """Play all that is ready together."""
        self._tab.session.change_view(tr("Wave front"), order="wavefront", time=None)

    def _change_speed(self, by: int) -> None:
        player = self._tab.session.player
        place = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - player.speed))
        player.set_speed(SPEEDS[min(max(place + by, 0), len(SPEEDS) - 1)])

    # -- go, help ------------------------------------------------------------------------------------------------------

    def find(self) -> None:
        """Search in the graph."""
        self._tab.middle.find_bar.begin()

    def go_left(self) -> None:
        """Select the box to the left."""
        self._tab.walk("left")

    def go_right(self) -> None:
        """Select the box to the right."""
        self._tab.walk("right")

    def go_up(self) -> None:
        """Select the box above."""
        self._tab.walk("up")

    def go_down(self) -> None:
        """Select the box below."""
        self._tab.walk("down")

    def upstream(self) -> None:
        """Light what hands gradient to the selection, or everything again."""
        self._tab.light("upstream")

    def downstream(self) -> None:
        """Light what gets gradient from the selection, or everything again."""
        self._tab.light("downstream")

    def bookmark(self) -> None:
        """Mark what is selected."""
        self._tab.toggle_bookmarks()

    def next_bookmark(self) -> None:
        """Select the next marked box."""
        self._tab.go_to_bookmark()

    def compare(self) -> None:
        """See this call beside another one."""
        self._window.tabs.choose_to_compare(self._tab)

    def palette(self) -> None:
        """Search for an action."""
        self._window.show_palette()

    def finding_pages(self) -> None:
        """List the pages of all codes."""
        show_finding_page(self._window)

    def register(self) -> None:
        """Make gradviz known to the desktop."""
        window = self._window
        window.services.background.submit(lambda task: register(), window.say, window.say)

    def about(self) -> None:
        """Say what this is."""
        box = QMessageBox(self._window)
        box.setWindowTitle(tr("About gradviz"))
        box.setIconPixmap(self._window.windowIcon().pixmap(64, 64))
        box.setText(f"gradviz {__version__}")
        box.setInformativeText(
            tr("See what backward() does.\n\nFonts: {fonts}\nUnsaved recordings: {folder}",
               fonts=fonts().description, folder=self._window.services.recovery.folder)
        )  # fmt: skip
        box.open()
