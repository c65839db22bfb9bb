"""The bar at the bottom: play, step, speed, order, and the time line."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from gradviz.app.graph.time_slider import TimeSlider
from gradviz.app.look import Look
from gradviz.app.player import SPEEDS
from gradviz.app.round_button import RoundButton
from gradviz.app.session import Session
from gradviz.app.texts import tr


class Transport(QWidget):
    """The transport of one session. `actions` are those of the window, by name."""

    def __init__(
        self, session: Session, look: Look, actions: Mapping[str, QAction], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._actions = actions
        self._buttons = [
            RoundButton(actions[name], look, primary=name == "play", parent=self)
            for name in ("call-back", "step-back", "play", "step-forward", "call-forward")
        ]
        self.speed = self._make_speed()
        self.engine, self.wave = self._make_order(actions["engine-order"]), self._make_order(actions["wave-front"])
        self.slider = TimeSlider(look, self)
        self._arrange()
        self.set_look(look)
        self._connect()
        self._take_story()

    def _make_speed(self) -> QComboBox:
        box = QComboBox(self)
        for speed in SPEEDS:
            box.addItem(f"{speed:g}×", speed)
        box.setCurrentIndex(SPEEDS.index(1.0))
        box.setAccessibleName(tr("Speed"))
        box.setToolTip(tr("How fast the gradients move"))
        box.activated.connect(lambda place: self._session.player.set_speed(SPEEDS[place]))
        return box

    def _make_order(self, action: QAction) -> QToolButton:
        button = QToolButton(self)
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        button.setProperty("role", "flat")
        return button

    def _arrange(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 6, 16, 6)
        layout.setSpacing(7)
        for button in self._buttons:
            layout.addWidget(button)
        layout.addSpacing(12)
        layout.addWidget(self.speed)
        layout.addSpacing(8)
        layout.addWidget(self.engine)
        layout.addWidget(self.wave)
        layout.addSpacing(14)
        layout.addWidget(self.slider, 1)

    def _connect(self) -> None:
        session, player = self._session, self._session.player
        session.story_changed.connect(self._take_story)
        player.moved.connect(self._show_time)
        player.settings_changed.connect(self._show_settings)
        self.slider.sought.connect(player.seek)
        self.slider.stepped.connect(self._step)

    def set_look(self, look: Look) -> None:
        """Take other colours."""
        self.slider.set_look(look)
        for button in self._buttons:
            button.set_look(look)
        self.setMinimumHeight(self.slider.sizeHint().height() + 12)

    def _step(self, by: int) -> None:
        player = self._session.player
        if abs(by) == 1:
            player.step(by)
        else:
            player.step_call(by // 2)

    def _take_story(self) -> None:
        story = self._session.story
        self.slider.set_timeline(None if story is None else story.timeline)
        self.speed.setEnabled(story is not None)
        self._show_time()

    def _show_time(self) -> None:
        frame = self._session.player.frame
        if frame is not None:
            self.slider.set_time(frame.t, frame.sentence)

    def _show_settings(self) -> None:
        speed = self._session.player.speed
        place = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - speed))
        self.speed.setCurrentIndex(place)
