"""The experiments of a tab: kept in its recording beside the script's own calls, shown and played at once."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from gradviz.app.background import Cancelled, Errands
from gradviz.app.loading import LiveFile
from gradviz.app.recovery import Recovery
from gradviz.app.running import Running, file_name
from gradviz.app.session import Session
from gradviz.runner.experiments import WhatIf
from gradviz.runner.keeping import keep_in_copy


class WhatIfs(QObject):
    """Takes experiments one after another.

    While the script runs they are laid over its recording and join it when the script has ended; afterwards each is
    written into it, for a recording that the user has opened into a copy in the recovery folder.

    Signals:
        shown(str): the experiment with this label is in the list, and is being played.
        failed(str): one could not be kept; a sentence.
    """

    shown = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        running: Running,
        recovery: Recovery,
        background: Errands,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._running, self._recovery, self._background = session, running, recovery, background
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._count = 0
        self._waiting: list[WhatIf] = []
        self._busy = False
        self._live: LiveFile | None = None  # what the experiment is laid over that is on its way
        self._copies: list[str] = []  # in the recovery folder, of recordings that the user has opened
        self._expected: str | None = None
        session.recording_changed.connect(self._look_again)
        session.story_changed.connect(self._play)

    def adopt(self, what_if: WhatIf) -> WhatIf:
        """Move the file of an experiment to where it stays when the snapshot ends. May be called in any thread."""
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="gradviz-what-ifs-")
            self._count += 1
            path = os.path.join(self._folder.name, f"{self._count}.gradviz")
            shutil.move(what_if.recording, path)
        return replace(what_if, recording=path)

    def add(self, what_if: WhatIf) -> None:
        """Keep and show an experiment that was adopted."""
        self._waiting.append(what_if)
        self._next()

    def close(self) -> None:
        """Forget those that wait; their files go when the recording has taken them in."""
        self._waiting.clear()
        for path in self._copies:
            self._recovery.release(path)
        if self._folder is not None:
            self._running.need(self._folder)

    # -- one after another ---------------------------------------------------------------------------------------------

    def _next(self) -> None:
        loaded = self._session.loaded
        if self._busy or not self._waiting or loaded is None or (loaded.live and not self._running.alive):
            return  # `_look_again` comes back when there is a recording, or the finished one
        self._busy = True
        self._live = self._running.live
        what_if, live = self._waiting.pop(0), self._live
        if live is not None:
            self._background.submit(
                lambda _: _laid_over(live, what_if), lambda taken: self._follow(live, what_if, taken), self._fail
            )
            return
        path, target = loaded.path, self._home(loaded.path)
        first = partial(keep_in_copy, path, target, [what_if])
        self._session.open_what_if(target, None, first, self._expect, self._fail)

    def _follow(self, live: LiveFile, what_if: WhatIf, taken: bool) -> None:
        """Show what was laid over the recording; when the script has ended meanwhile, it goes into the finished one."""
        if taken and self._running.live is live:
            self._session.open_what_if(live.path, live, None, self._expect, self._fail)
            return
        if not taken:
            self._waiting.insert(0, what_if)
        self._busy, self._live = False, None
        self._next()

    def _home(self, path: str) -> str:
        """Where the recording with experiments lies: a file of the user's is not changed."""
        if self._recovery.holds(path):
            return path
        copy = self._recovery.new_path(file_name(path))
        self._copies.append(copy)
        return copy

    def _expect(self, label: str) -> None:
        self._busy, self._live = False, None
        self._expected = label
        self._next()

    def _fail(self, why: str) -> None:
        self._busy, self._live = False, None
        self.failed.emit(why)
        self._next()

    def _look_again(self) -> None:
        loaded = self._session.loaded
        if self._live is not None and loaded is not None and not loaded.live:
            # The script ended before the experiment could be shown: it is in the finished recording.
            self._busy, self._live = False, None
        self._next()

    def _play(self) -> None:
        story = self._session.story
        if self._expected is None or story is None or story.timeline.calls[-1].label != self._expected:
            return
        label, self._expected = self._expected, None
        self._session.player.seek(0.0)
        self._session.player.play()
        self.shown.emit(label)


def _laid_over(live: LiveFile, what_if: WhatIf) -> bool:
    """In a thread: whether the recording still grows, and shows the experiment from now on."""
    try:
        live.add(what_if)
    except Cancelled:
        return False
    return True
