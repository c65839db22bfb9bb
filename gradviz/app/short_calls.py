"""Says above the graph that only a summary of the call that is shown was kept, and offers one that was kept whole."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from gradviz.app.graph.banner import Banner
from gradviz.app.session import Session
from gradviz.app.texts import tr
from gradviz.model import Call, Recording


class ShortCalls(QObject):
    """Follows the call that is shown."""

    def __init__(self, session: Session, banner: Banner, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._banner = session, banner
        self._told: tuple[Call, str] | None = None  # which call, and the words
        for signal in (session.story_changed, session.player.beat_changed):
            signal.connect(self._tell)

    def _tell(self) -> None:
        call, recording = self._session.current_call, self._session.recording
        if self._told is not None and self._told[0] == call:
            return
        if self._told is not None and self._banner.words.text() == self._told[1]:
            self._banner.hide()
        self._told = None
        if call is None or recording is None or call.whole or self._banner.isVisible():
            return
        near = nearest_whole(recording, call)
        if near is not None:
            words = tr("Only a summary of call {label} was kept: norms, no graph.", label=call.label)
            self._told = call, words
            self._banner.tell(words, tr("Show call {label}", label=near.label), partial(self._show, near.number))
            self._banner.words.setToolTip(
                tr("`gradviz record --calls {label}` keeps this call whole.", label=call.label)
            )

    def _show(self, number: int) -> None:
        self._session.show_call(number)


def nearest_whole(recording: Recording, call: Call) -> Call | None:
    """The call that is nearest to one of which only a summary was kept, of the same line where there is one."""

    def distance(other: Call) -> tuple[bool, int]:
        return other.place != call.place, abs(other.number - call.number)

    whole = (other for other in recording.top_calls if other.engine and other.whole and other.node_count)
    return min(whole, key=distance, default=None)
