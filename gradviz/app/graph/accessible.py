"""The graph for screen readers: each box is a child of the view that says its name, its op and its gradient."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget

from gradviz.app.graph.box_words import box_words
from gradviz.app.graph.graph_view import GraphView
from gradviz.render import Box

# Qt keeps plain pointers to what it was given; nothing of it may be freed while the program runs.
_given: list[QAccessibleInterface] = []


@cache
def install() -> None:
    """Teach Qt about the graph; once in a process, since Qt asks every factory that it was ever given."""
    QAccessible.installFactory(_make)


def _make(key: str, thing: QObject) -> QAccessibleInterface | None:
    if not isinstance(thing, GraphView):
        return None
    made = GraphInterface(thing)
    _given.append(made)
    return made


def tell_focus(view: GraphView) -> None:
    """Tell screen readers which box is selected now."""
    if QAccessible.isActive():
        boxes = view.selected_boxes()
        if boxes:
            event = QAccessibleEvent(view, QAccessible.Event.Focus)
            event.setChild(boxes[0].index)
            QAccessible.updateAccessibility(event)


class GraphInterface(QAccessibleWidget):
    """The view as a list of boxes."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view, QAccessible.Role.List, view.accessibleName())
        self._view = view
        self._boxes: dict[int, BoxInterface] = {}

    def childCount(self) -> int:
        """How many boxes there are."""
        scene = self._view.scene
        return 0 if scene is None else len(scene.plan.boxes)

    # PySide's stub does not know that "none" is a legal answer of these two.
    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """A box; made when it is asked for, kept from then on, whatever scene is shown."""
        if not 0 <= index < self.childCount():
            return None
        if index not in self._boxes:
            self._boxes[index] = BoxInterface(self, self._view, index)
            _given.append(self._boxes[index])
        return self._boxes[index]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Which box that is."""
        return child.index if isinstance(child, BoxInterface) else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """The box at a point of the screen."""
        box = self._view.box_at(self._view.mapFromGlobal(QRect(x, y, 1, 1).topLeft()).toPointF())
        return None if box is None else self.child(box.index)


class BoxInterface(QAccessibleInterface):
    """One box of the scene that is shown, by its place."""

    def __init__(self, parent: GraphInterface, view: GraphView, index: int) -> None:
        super().__init__()
        self._parent = parent
        self._view = view
        self.index = index

    def isValid(self) -> bool:
        """Whether there is such a box."""
        return self._box is not None

    def object(self) -> QObject | None:  # type: ignore[override]
        """No object of its own."""
        return None

    def parent(self) -> QAccessibleInterface:
        """The graph."""
        return self._parent

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """A box has no parts."""
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        """A box has no parts."""
        return None

    def childCount(self) -> int:
        """A box has no parts."""
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """A box has no parts."""
        return -1

    def role(self) -> QAccessible.Role:
        """An item of the list."""
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        """Whether it is selected."""
        state = QAccessible.State()
        state.selectable = True
        state.focusable = True
        chosen = any(box.index == self.index for box in self._view.selected_boxes())
        state.selected = chosen
        state.focused = chosen
        return state

    def text(self, kind: QAccessible.Text) -> str:
        """Name, op and gradient as the name."""
        scene, box = self._view.scene, self._box
        return (
            ""
            if scene is None or box is None or kind != QAccessible.Text.Name
            else box_words(scene, box, self._view.frame)
        )

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Names cannot be changed."""

    def rect(self) -> QRect:
        """Where it is on the screen."""
        if self._view.scene is None or self._box is None:
            return QRect()
        card = self._view.on_screen(self._view.scene.cards[self.index]).toAlignedRect()
        return card.translated(self._view.mapToGlobal(QRect().topLeft()))

    @property
    def _box(self) -> Box | None:
        scene = self._view.scene
        return None if scene is None or self.index >= len(scene.plan.boxes) else scene.plan.boxes[self.index]
