"""In a small window nothing is cut off: the inspector wraps, the legend shrinks."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from gradviz.app.main_window import MainWindow
from gradviz.app.panels.soft_label import SoftLabel
from gradviz.app.workspace import Workspace
from gradviz.model import CallDetail, Edge, Graph
from gradviz.resources import resource
from tests.app.conftest import Open
from tests.recordings import call, execution, from_edges, leaf, node, recording, root, tensor


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 2, 2, 2, 2)])
def test_the_inspector_is_as_wide_as_its_panel(
    shape: tuple[int, ...], opened: Open, window: MainWindow, qtbot: QtBot
) -> None:
    tab = opened(from_edges([(0, 1), (1, 2), (0, 2)], 3, shape))
    window.resize(window.minimumSizeHint())
    window.resizeDocks([window.docks.docks["inspector"]], [1], Qt.Orientation.Horizontal)
    inside = tab.inspector.widget()
    assert inside is not None and tab.drawing.scene is not None
    for each in tab.drawing.scene.plan.timeline.stage.graph.nodes:
        tab.session.select_nodes((each.id,))
        qtbot.waitUntil(lambda: tab.inspector.rows.facts != ())
        qtbot.waitUntil(lambda: inside.width() == tab.inspector.viewport().width(), timeout=3000)
        for spin in inside.findChildren(QSpinBox):
            right = spin.mapTo(inside, spin.rect().topRight()).x()
            assert not spin.isVisible() or (right < inside.width() and spin.width() >= 80)


def test_a_long_name_breaks_and_is_copied_whole(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    name, one = "encoder.feed_forward.layers.0.parametrizations.weight_original", tensor(1.0)
    leaf_, root_ = leaf(1, name, one), node(0, "ScaledDotProductFlashAttentionForCpuBackward0", "y", value=one)
    runs = (execution(0, 0, [one], [one]), execution(1, 1, [one]))
    graph = Graph((root_, leaf_), (Edge(0, 0, 1, 0),))
    tab = opened(recording([(call(1, [root(root_, one)], 2), graph, CallDetail(runs))]))
    window.resize(window.minimumSizeHint())
    window.resizeDocks([window.docks.docks["inspector"]], [1], Qt.Orientation.Horizontal)
    inside = tab.inspector.widget()
    assert inside is not None
    for node_, words in ((1, name), (0, f"1 to {name}")):
        tab.session.select_nodes((node_,))
        qtbot.waitUntil(lambda: any(words in label.text() for label in tab.inspector.findChildren(SoftLabel)))  # noqa: B023
        qtbot.waitUntil(lambda: inside.width() == tab.inspector.viewport().width(), timeout=3000)
        qtbot.waitUntil(lambda: not cut(tab), timeout=5000)
    tab.session.select_nodes((1,))
    qtbot.waitUntil(lambda: tab.inspector.name.text() == name)
    title = tab.inspector.name
    for key in (Qt.Key.Key_A, Qt.Key.Key_C):
        qtbot.keyClick(title, key, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == name


def cut(tab: Workspace) -> list[str]:
    """The words of the inspector that need more than the width they have."""
    labels = [label for label in tab.inspector.findChildren(SoftLabel) if label.isVisible()]
    assert labels
    return [label.text() for label in labels if label.minimumSizeHint().width() > label.width()]


def test_the_legend_is_there_whole(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(from_edges([(0, 1), (1, 2), (0, 2)], 3, (2, 3)))
    qtbot.waitUntil(lambda: tab.drawing.legend is not None, timeout=10_000)
    legend, image = tab.middle.legend, tab.drawing.legend
    assert image is not None
    qtbot.waitUntil(lambda: 0 < legend.sizeHint().height() == legend.height())
    whole = image.deviceIndependentSize().width()
    for width in (round(whole) + 60, round(whole * 0.7)):
        legend.resize(width, legend.height())
        seen = legend.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        data = np.frombuffer(bytes(seen.constBits()), np.uint8).reshape(seen.height(), seen.width(), 4)
        inked = np.flatnonzero((data != data[0, 0]).any(axis=(0, 2))) / seen.width() * width
        original = image.convertToFormat(QImage.Format.Format_RGB32)
        data = np.frombuffer(bytes(original.constBits()), np.uint8).reshape(original.height(), original.width(), 4)
        wanted = np.flatnonzero((data != data[0, 0]).any(axis=(0, 2))) / original.width() * min(whole, width)
        assert abs(inked[-1] - wanted[-1]) < 2.0 and abs(inked[0] - wanted[0]) < 2.0


def test_a_finding_with_three_links_is_as_wide_as_its_panel(window: MainWindow, qtbot: QtBot) -> None:
    path = str(resource("examples", "second_time.gradviz"))
    window.open_path(path)
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: tab.findings.findChild(QPushButton) is not None, timeout=30_000)
    window.resize(window.minimumSizeHint())
    window.resizeDocks([window.docks.docks["findings"]], [1], Qt.Orientation.Horizontal)
    inside = tab.findings.widget()
    assert inside is not None
    links = inside.findChildren(QPushButton)
    qtbot.waitUntil(lambda: all(link.isVisible() for link in links), timeout=10_000)
    qtbot.waitUntil(lambda: inside.width() == tab.findings.viewport().width(), timeout=3000)
    assert [link.text() for link in links[:3]] == ["Show me", "Why?", "Try the earlier call"]
    for button in links:
        assert button.mapTo(inside, button.rect().topRight()).x() < inside.width()
