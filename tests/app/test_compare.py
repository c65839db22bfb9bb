"""Two calls side by side: what differs, by how much, and that both sides move together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gradviz.app.compare import change_text, compare, distance
from gradviz.app.graph.compare_window import CompareWindow, Side, _percent
from gradviz.app.main_window import MainWindow
from gradviz.model import CallDetail, Edge, Graph, Recording, TensorValue
from gradviz.model.tensors import Statistics
from gradviz.playback import Timeline
from tests.app.conftest import Open
from tests.recordings import call, execution, leaf, loop, node, recording, returned, root, tensor, two_calls
from tests.store.samples import write


class TestDistance:
    def test_equal_and_opposite_and_missing(self) -> None:
        assert distance(tensor([1.0, 2.0]), tensor([1.0, 2.0])) == 0.0
        assert distance(tensor(3.0), tensor(-3.0)) == 2.0
        assert distance(None, None) == 0.0
        assert distance(None, tensor(0.0)) == 1.0  # undefined is not zero

    def test_it_is_relative_to_the_larger_norm(self) -> None:
        # |(3, 4) - (0, 4)| = 3 over max(5, 4)
        assert distance(tensor([3.0, 4.0]), tensor([0.0, 4.0])) == pytest.approx(3 / 5)

    def test_nan_equals_nan_and_nothing_else(self) -> None:
        nan = tensor(float("nan"))
        assert distance(nan, nan) == 0.0
        assert distance(nan, tensor(1.0)) == 1.0

    def test_other_shapes_cannot_be_compared(self) -> None:
        assert distance(tensor([1.0]), tensor(1.0)) == 1.0

    def test_summaries_are_compared_by_their_norms(self) -> None:
        def summary(norm: float) -> TensorValue:
            return TensorValue((9,), "float32", measured=Statistics(norm, None, None, None, 0, 0, 0))

        assert distance(summary(4.0), summary(3.0)) == pytest.approx(0.25)
        assert distance(summary(0.0), summary(0.0)) == 0.0


def test_the_change_in_numbers() -> None:
    assert change_text(tensor([1.0, 2.0]), tensor([4.0, 1.5])) == "[3, -0.5]"
    assert change_text(tensor(5.0), tensor(7.0)) == "2"
    assert change_text(tensor([0.0] * 9), tensor([1.0] * 9)) == "‖3‖"
    assert change_text(None, tensor(7.0)) == ""


def test_nodes_are_matched_by_key() -> None:
    recording = two_calls()
    found = {d.name: d for d in compare(Timeline(recording, (1,)), Timeline(recording, (2,)))}
    # By hand: t2 gets 1 and then 5, t1 gets 4 and then 20; t3 is only in the second call.
    assert found["t2"].distance == pytest.approx(4 / 5)
    assert found["t1"].distance == pytest.approx(16 / 20)
    assert found["t3"].where == "right"
    assert found["t3"].distance == 1.0


def test_what_autograd_grad_returned_is_compared() -> None:
    """No leaf runs in such a call. By hand: of y = x * x at 3 the seed 1 brings 6 to x, the seed 2 brings 12."""
    one = returned()
    detail = one.detail(1)
    run = execution(0, 0, [tensor(2.0)], [tensor(6.0), tensor(6.0)])
    other = recording([(one.calls[0], one.graph(1), replace(detail, executions=(run,), returned=(tensor(12.0),)))])
    found = {d.name: d for d in compare(Timeline(one, (1,)), Timeline(other, (1,)))}
    assert (found["x"].distance, found["x"].change) == (pytest.approx(6 / 12), "6")


def split(first: float, second: float) -> Recording:
    """A node with two outputs, of which each got something."""
    made, x = node(0, "UnbindBackward0", "part", outputs=2), leaf(1, "x")
    run = execution(0, 0, [tensor(first), tensor(second)], [tensor([first, second])])
    one = tensor(1.0)
    head = call(1, [root(made, one), root(made, one, output_nr=1)], 2)
    return recording([(head, Graph((made, x), (Edge(0, 0, 1, 0),)), CallDetail((run,)))])


def test_every_output_of_a_node_is_compared() -> None:
    found = compare(Timeline(split(1.0, 2.0), (1,)), Timeline(split(1.0, 5.0), (1,)))
    outputs = [(d.detail, d.change, d.distance) for d in found if d.name == "part"]
    assert outputs == [("Unbind · output 1", "3", pytest.approx(3 / 5)), ("Unbind · output 0", "0", 0.0)]


def test_a_small_difference_is_not_rounded_away() -> None:
    # 1 part in 100,000 is 0.001 percent.
    assert [_percent(share) for share in (0.0, 1e-5, 0.125, 2.0)] == ["0.00%", "0.001%", "12.50%", "200.00%"]


@pytest.fixture
def comparison(opened: Open, window: MainWindow, qtbot: QtBot) -> CompareWindow:
    tab = opened(two_calls())
    recording = tab.session.recording
    assert recording is not None
    made = window.tabs.compare(Side(recording, 1, "call 1"), Side(recording, 2, "call 2"))
    with qtbot.waitSignal(made.compared, timeout=20_000):
        pass
    return made


def test_differences_are_counted_and_listed(comparison: CompareWindow) -> None:
    assert comparison.words.text() == "3 gradients differ, 0 are equal"
    rows = [[comparison.model.index(row, column).data() for column in range(6)] for row in range(5)]
    assert [row[0] for row in rows[:2]] == ["seed of t2", "seed of t3"]
    assert rows[2] == ["t3", "Mul · line 10", "not there", "1", "", "100.00%"]
    # By hand: 20 - 4 and 5 - 1.
    assert sorted((row[0], row[4]) for row in rows[3:]) == [("t1", "16"), ("t2", "4")]
    comparison.close()


def test_both_sides_see_the_same(comparison: CompareWindow) -> None:
    left, right = comparison.panes
    left.view.zoom_by(1.5, QPointF(50, 50))
    assert right.view.camera == left.view.camera
    right.view.pan_by(30, 10)
    assert left.view.camera == right.view.camera
    comparison.close()


def test_a_row_selects_its_node_on_both_sides(comparison: CompareWindow) -> None:
    row = next(row for row, d in enumerate(comparison.model.differences) if d.name == "t1")
    comparison.table.selectRow(row)
    for pane in comparison.panes:
        node = pane.session.selected_node
        assert node is not None
        assert node.name == "t1"
    comparison.close()


def test_equal_calls_have_no_difference(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    recording = opened(two_calls()).session.recording
    assert recording is not None
    made = window.tabs.compare(Side(recording, 2, "a"), Side(replace(recording), 2, "b"))
    with qtbot.waitSignal(made.compared, timeout=20_000):
        pass
    assert made.words.text() == "All 3 gradients are equal."
    made.close()


def test_the_other_call_is_chosen_from_a_list(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    tab = opened(two_calls())
    dialog = window.tabs.choose_to_compare(tab)
    assert dialog is not None
    assert dialog.list.count() == 1  # the call that is shown is not compared with itself
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
    assert chosen.args[0].number == 1
    for child in window.findChildren(CompareWindow):
        child.close()


def test_the_call_before_is_chosen_at_first(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    opened(two_calls())  # another recording is open, too
    tab = opened(loop(6))
    tab.session.player.go_to_call(4)
    for key, number in ((Qt.Key.Key_Return, 3), (Qt.Key.Key_Down, 5)):
        dialog = window.tabs.choose_to_compare(tab)
        assert dialog is not None
        qtbot.waitUntil(dialog.list.isVisible)
        if key == Qt.Key.Key_Down:
            qtbot.keyClick(dialog.list, key)
        with qtbot.waitSignal(dialog.chosen) as chosen:
            qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
        assert (chosen.args[0].recording, chosen.args[0].number) == (tab.session.recording, number)
    tab.session.player.go_to_call(1)
    dialog = window.tabs.choose_to_compare(tab)
    assert dialog is not None
    assert dialog.list.currentIndex().data() == "memory.gradviz, call 2"  # before the first one there is none
    dialog.reject()
    for child in window.findChildren(CompareWindow):
        child.close()


def test_both_graphs_are_seen_whole(comparison: CompareWindow, qtbot: QtBot) -> None:
    """The first call has two nodes, the second three: one camera shows all five."""
    for pane in comparison.panes:
        assert pane.drawing.scene is not None
        view = pane.view
        for card in pane.drawing.scene.cards:
            assert QRectF(view.rect()).contains(view.on_screen(card))
    comparison.close()


def test_the_keyboard_goes_through_the_differences_and_closes(comparison: CompareWindow, qtbot: QtBot) -> None:
    qtbot.waitActive(comparison)
    assert comparison.focusWidget() is comparison.table
    for row in (0, 1):
        qtbot.keyClick(comparison.table, Qt.Key.Key_Down)
        assert comparison.table.currentIndex().row() == row
    qtbot.keyClick(comparison.table, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not isValid(comparison))


def test_two_recordings_of_a_script_are_told_apart(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """Their tabs, too; when one is closed, the other has its short name again."""
    for name in ("before", "after"):
        path = tmp_path / f"{name}.gradviz"
        write(two_calls(), path)
        window.open_path(str(path))
    before, after = window.tabs.open_ones
    qtbot.waitUntil(lambda: before.session.story is not None and after.session.story is not None, timeout=20_000)
    script = before.title
    qtbot.waitUntil(lambda: window.pages.tabText(0) == f"{script} · before.gradviz")
    assert window.pages.tabText(1) == f"{script} · after.gradviz"
    dialog = window.tabs.choose_to_compare(after)
    assert dialog is not None
    assert [dialog.list.model().index(row, 0).data() for row in range(dialog.list.count())] == [
        f"{script} · before.gradviz, call 1",
        f"{script} · before.gradviz, call 2",
        f"{script} · after.gradviz, call 1",
    ]
    dialog.reject()
    window.tabs.close(before)
    assert window.pages.tabText(0) == script


def test_both_sides_are_as_wide(opened: Open, window: MainWindow, qtbot: QtBot) -> None:
    recording = opened(two_calls()).session.recording
    assert recording is not None
    long = "accumulate.py, what-if 1 on call 1: seed -2 at t3"
    made = window.tabs.compare(Side(recording, 2, long), Side(recording, 1, "call 1"))
    with qtbot.waitSignal(made.compared, timeout=20_000):
        pass
    left, right = (pane.width() for pane in made.panes)
    assert abs(left - right) <= 2
    made.close()
