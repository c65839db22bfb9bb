"""An edge that would run through the whole picture is drawn as two stubs; a click on one leads to its other end."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from pytestqt.qtbot import QtBot

from gradviz.app.graph import camera as lens
from gradviz.app.main_window import MainWindow
from gradviz.model import Camera
from tests.app.conftest import Open
from tests.recordings import from_edges

STEPS = 60
WEIGHT = 2 * STEPS
# Two operations a step; the second one uses the weight.
EDGES = [(k, k + 1) for k in range(2 * STEPS - 1)] + [(2 * k + 1, WEIGHT) for k in range(STEPS)]


def test_a_stub_leads_to_the_weight(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(from_edges(EDGES, WEIGHT + 1))
    tab.session.player.reduced_motion = True
    with qtbot.waitSignal(tab.drawing.scene_changed, timeout=30_000):
        window.actions_by_name["unfold-all"].trigger()
    scene, view = tab.drawing.scene, tab.middle.view
    assert scene is not None
    weight, user = scene.box_of(WEIGHT), scene.box_of(1)
    assert weight is not None
    assert user is not None
    link = next(link for link in scene.plan.links if (link.source, link.target) == (user.index, weight.index))
    stubs = scene.routes[link.index].stubs
    assert stubs is not None
    label = stubs[0].label
    assert label is not None
    assert scene.stub_at(*label, 3.0) == weight
    assert scene.stub_at(label[0], label[1] - 200.0, 3.0) is None
    # The other half is one stub for all the steps: it leads to no single one.
    shared = next(route.stubs[1] for route in scene.routes if route.stubs is not None and route.stubs[1].drawn)
    assert shared.shared > 10
    assert shared.label is not None
    assert scene.stub_at(*shared.label, 3.0) is None
    view.look_at(Camera(*label, 1.0))
    at = QPointF(*lens.to_widget(view.camera, view.extent, *label))
    with qtbot.waitSignal(view.stub_clicked):
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(round(at.x()), round(at.y())))
    assert tab.session.selected_ids == (WEIGHT,)
    seen = lens.seen(view.camera, view.extent)
    card = scene.cards[weight.index]
    assert seen[0] <= card[0] and card[2] <= seen[2] and seen[1] <= card[1] and card[3] <= seen[3]
