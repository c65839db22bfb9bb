"""The Jacobian window: numbers against torch, the seed by clicks and keys, sweep and check, and what goes wrong."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gradviz.app.jacobian.heat import coloured, pooled
from gradviz.app.jacobian.matrix import JacobianMatrix, agreement, element_name, rows_asked
from gradviz.app.jacobian.paint import _round, _runs
from gradviz.app.jacobian.window import JacobianWindow
from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from gradviz.errors import SeedError
from gradviz.render.theme import theme
from gradviz.runner.experiments import NamedTensor
from tests.app.conftest import Open
from tests.app.test_held_calls import is_gone, process
from tests.app.test_running import run_to_end, script
from tests.recordings import tensor, two_calls

# The network of the document on `autograd.grad`, smaller: samples do not see each other.
BATCH = """import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).double()
x = torch.rand(5, 3, requires_grad=True, dtype=torch.float64)
y = model(x)
torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
"""
# By hand: y = [x0 x1, x1 x2], so J = [[x1, x0, 0], [0, x2, x1]] = [[2, 1, 0], [0, 3, 2]].
SMALL = """import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = torch.stack([x[0] * x[1], x[1] * x[2]])
y.backward(torch.tensor([1.0, 10.0]))
"""


SLOW = """import torch, time
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        time.sleep(0.1 + 0 * grad.sum().item())
        return grad * 2
x = torch.ones(4000, requires_grad=True)
y = Slow.apply(x)
y.backward(torch.ones(4000))
"""


def open_jacobian(window: MainWindow, qtbot: QtBot, path: str) -> tuple[Workspace, JacobianWindow]:
    """Run a script, press J, and wait for the matrix."""
    tab = run_to_end(window, qtbot, path)
    qtbot.waitUntil(lambda: tab.session.story is not None and tab.drawing.scene is not None, timeout=60_000)
    qtbot.keyClick(window, Qt.Key.Key_J)
    (made,) = tab.jacobians.windows
    qtbot.waitUntil(lambda: made.matrix is not None, timeout=60_000)
    return tab, made


def cell(view: JacobianWindow, row: int, column: int) -> QPointF:
    plan = view.map.plan
    assert plan is not None
    return plan.rect(row, column).center()


def click_cell(qtbot: QtBot, view: JacobianWindow, row: int, column: int) -> None:
    qtbot.mouseClick(view.map.viewport(), Qt.MouseButton.LeftButton, pos=cell(view, row, column).toPoint())


def network() -> tuple[torch.nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).double()
    return model, torch.rand(5, 3, dtype=torch.float64)


class TestAgainstTorch:
    def test_the_matrix_is_that_of_functional_jacobian(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        _, view = open_jacobian(window, qtbot, script(tmp_path, BATCH))
        assert view.matrix is not None
        model, x = network()
        expected = torch.autograd.functional.jacobian(model, x)
        assert isinstance(expected, torch.Tensor)
        found = view.matrix.values.reshape(5, 2, 5, 3)
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-13, atol=1e-15)
        assert view.matrix.samples == 5
        assert "x[b] reaches only y[b]" in view.state.text()

    def test_the_gradient_of_the_document_is_the_sum_over_outputs(
        self, window: MainWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        _, view = open_jacobian(window, qtbot, script(tmp_path, BATCH))
        model, x = network()
        x.requires_grad_()
        (expected,) = torch.autograd.grad(model(x), x, torch.ones(5, 2, dtype=torch.float64))
        np.testing.assert_allclose(view.combined.reshape(5, 3), expected.numpy(), rtol=0, atol=1e-15)
        assert "It is the gradient that call 1 computed" in view.words.text()
        qtbot.mouseClick(view.fold, Qt.MouseButton.LeftButton, pos=view.fold.rect().center() * 0.2)
        assert view.fold.isChecked()
        plan = view.map.plan
        assert plan is not None
        assert (plan.rows, plan.columns) == (10, 3)
        # The sum of a block stands beside it, as high as it is.
        assert plan.sum_rect(4).height() == pytest.approx(2 * plan.cell[1])
        assert plan.sum_rect(4).top() == pytest.approx(plan.y(2))

    def test_one_row_is_what_the_engine_gives_for_one_hot_bit_for_bit(
        self, window: MainWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        _, view = open_jacobian(window, qtbot, script(tmp_path, SMALL))
        assert view.matrix is not None
        np.testing.assert_array_equal(view.matrix.values, [[2, 1, 0], [0, 3, 2]])
        np.testing.assert_array_equal(view.combined, [2, 31, 20])  # the call's own seed: 1 and 10
        assert view.words.text().endswith("It is the gradient that call 1 computed, bit for bit.")


def test_the_names_of_the_tensors_are_not_cut(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    text = BATCH.replace("x = torch", "the_inputs_of_all_samples = x = torch")
    _, view = open_jacobian(window, qtbot, script(tmp_path, text))
    for box in (view.root, view.input):
        qtbot.waitUntil(lambda box=box: box.width() >= box.sizeHint().width())
        letters = box.fontMetrics().horizontalAdvance(max(map(box.itemText, range(box.count())), key=len))
        assert box.width() > letters + 20  # the arrow
    view.close()


class Answering:
    """In the place of held calls: gives one answer after the other."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = answers

    def start(self, label: str, work: Any, done: Any, failed: Any, progress: Any) -> Any:
        answer = self._answers.pop(0)
        QTimer.singleShot(0, lambda: done(answer))
        return self

    def drop(self) -> None:
        """Nobody waits."""


class TestSeed:
    @pytest.fixture
    def view(self, opened: Open, window: MainWindow, qtbot: QtBot) -> JacobianWindow:
        """J by hand (see SMALL), as if a held call had answered."""
        tab = opened(two_calls())
        matrix = JacobianMatrix(
            np.array([[2, 1, 0], [0, 3, 2]], dtype=np.float32), (0, 1), "y", "x", (2,), (3,), "float32"
        )
        recorded = tensor([2.0, 31.0, 20.0])
        root = replace(tab.session.recording.calls[0].roots[0], seed=tensor([1.0, 10.0]))  # type: ignore[union-attr]
        call = replace(tab.session.recording.calls[0], roots=(root,))  # type: ignore[union-attr]
        names = (NamedTensor("x", (3,), "float32", True, None, False),)
        made = JacobianWindow(
            tab.session, call, Answering([names, (matrix, recorded)]), window.services.background, window.look, window
        )
        qtbot.waitUntil(lambda: made.matrix is not None)
        with qtbot.waitExposed(made):
            made.show()
        return made

    def test_typing_a_number_moves_the_combination_at_once(self, view: JacobianWindow, qtbot: QtBot) -> None:
        click_cell(qtbot, view, 1, 0)
        assert view.seeds.element.text() == "v at y[1] ="
        view.seeds.value.selectAll()
        qtbot.keyClicks(view.seeds.value, "-0.5")
        assert view._question is None  # nothing was run
        np.testing.assert_array_equal(view.combined, [2, -0.5, -1])
        assert "2 rows, weighted and added" in view.words.text()

    def test_buttons(self, view: JacobianWindow, qtbot: QtBot) -> None:
        for button, expected in (
            (view.seeds.ones, [2, 4, 2]), (view.seeds.zeros, [0, 0, 0]), (view.seeds.only, [2, 1, 0]),
            (view.seeds.own, [2, 31, 20]),
        ):  # fmt: skip
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
            np.testing.assert_array_equal(view.combined, expected)

    def test_keys_choose_rows_and_take_them(self, view: JacobianWindow, qtbot: QtBot) -> None:
        view.map.setFocus()
        qtbot.keyClick(view.map, Qt.Key.Key_Down)
        qtbot.keyClick(view.map, Qt.Key.Key_Space)
        np.testing.assert_array_equal(view.combined, [2, 1, 0])
        qtbot.keyClick(view.map, Qt.Key.Key_Space)
        np.testing.assert_array_equal(view.combined, [2, 4, 2])
        qtbot.keyClick(view.map, Qt.Key.Key_Right)
        assert view.check.name.text() == "x[0]"

    def test_the_words_under_the_mouse(self, view: JacobianWindow) -> None:
        assert view.map.words_at(cell(view, 1, 1)) == "d y[1] / d x[1] = 3"

    def test_cells_and_veil_are_painted(self, view: JacobianWindow, qtbot: QtBot, window: MainWindow) -> None:
        colors = window.look.colors
        image = view.map.viewport().grab().toImage()
        plan = view.map.plan
        assert plan is not None

        def colour(row: int, column: int) -> str:
            place = plan.rect(row, column).topLeft() + QPointF(4, plan.cell[1] - 5)
            return image.pixelColor(place.toPoint()).name()

        assert colour(1, 1) == QColor(colors.positive).name()  # 3 is the largest
        assert colour(0, 2) == QColor(colors.neutral).name()  # 0
        before = colour(1, 1)
        qtbot.mouseClick(view.seeds.only, Qt.MouseButton.LeftButton)  # row 0: row 1 takes no part
        image = view.map.viewport().grab().toImage()
        assert colour(1, 1) != before

    def test_the_sweep_lights_row_after_row_and_ends_with_the_seed_from_before(
        self, view: JacobianWindow, qtbot: QtBot
    ) -> None:
        seen: list[tuple[int, list[float]]] = []
        view.seeds.changed.connect(lambda: seen.append((view.map.row, view.combined.tolist())))
        qtbot.mouseClick(view.seeds.sweep, Qt.MouseButton.LeftButton)
        view.seeds.timer.setInterval(1)
        qtbot.waitUntil(lambda: not view.seeds.sweeping, timeout=10_000)
        assert [row for row, _ in seen[:2]] == [0, 1]
        np.testing.assert_array_equal(view.combined, [2, 31, 20])
        assert view.seeds.sweep.text() == "Sweep"

    def test_escape_stops_the_sweep_then_closes(self, view: JacobianWindow, qtbot: QtBot) -> None:
        qtbot.mouseClick(view.seeds.sweep, Qt.MouseButton.LeftButton)
        assert view.seeds.sweeping
        qtbot.keyClick(view, Qt.Key.Key_Escape)
        assert not view.seeds.sweeping
        assert view.isVisible()
        with qtbot.waitSignal(view.closed, timeout=60_000):
            qtbot.keyClick(view, Qt.Key.Key_Escape)


def test_a_large_matrix_is_painted_and_added_up_beside_the_event_loop(
    opened: Open, window: MainWindow, qtbot: QtBot
) -> None:
    """2,000 x 2,000: element (i, j) is 1 below the diagonal, so the sum of all rows counts down from 2,000."""
    tab = opened(two_calls())
    recording = tab.session.recording
    assert recording is not None
    size = 2000
    values = np.tril(np.ones((size, size), dtype=np.float32))
    matrix = JacobianMatrix(values, tuple(range(size)), "y", "x", (size,), (size,), "float32")
    names = (NamedTensor("x", (size,), "float32", True, None, False),)
    answers: Any = Answering([names, (matrix, None)])
    view = JacobianWindow(tab.session, recording.calls[0], answers, window.services.background, window.look, window)
    view.show()
    qtbot.waitUntil(lambda: view.words.text() != "", timeout=60_000)
    np.testing.assert_array_equal(view.combined, np.arange(size, 0, -1))
    qtbot.waitUntil(lambda: not view.map.image.isNull())
    assert view.map.image.height() < size  # a pixel stands for several rows
    qtbot.keyClick(view.map, Qt.Key.Key_End)
    qtbot.mouseClick(view.seeds.only, Qt.MouseButton.LeftButton)
    np.testing.assert_array_equal(view.combined, np.ones(size))
    for _ in range(12):
        qtbot.keyClick(view.map, Qt.Key.Key_Plus)
    plan = view.map.plan
    assert plan is not None
    assert plan.cell[1] > 5 * 0.2
    assert size - 1 in plan.shown_rows  # what was chosen stays in sight
    qtbot.keyClick(view.map, Qt.Key.Key_0)
    assert view.map.plan is not None
    assert view.map.plan.content[1] <= view.map.plan.field.height() + 1


class TestCheck:
    def test_the_difference_agrees_with_the_engine(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        _, view = open_jacobian(window, qtbot, script(tmp_path, SMALL))
        click_cell(qtbot, view, 0, 1)
        assert view.check.element.value() == 1
        qtbot.mouseClick(view.check.button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: bool(view.check.result.text()), timeout=60_000)
        words = view.check.result.text()
        measured = float(words.split()[1])
        assert measured == pytest.approx(31, rel=1e-8)
        assert "engine 31 ·" in words

    def test_along_all_ones(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        _, view = open_jacobian(window, qtbot, script(tmp_path, SMALL))
        view.check.along.setFocus()
        qtbot.keyClick(view.check.along, Qt.Key.Key_End)
        qtbot.mouseClick(view.check.button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: bool(view.check.result.text()), timeout=60_000)
        assert float(view.check.result.text().split()[1]) == pytest.approx(2 + 31 + 20, rel=1e-8)


class TestWays:
    def test_the_menu_of_a_node_asks_for_its_jacobian(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = (
            "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\nh = x * x\ny = h * 3\ny.sum().backward()\n"
        )
        tab = run_to_end(window, qtbot, script(tmp_path, text))
        qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=60_000)
        scene = tab.drawing.scene
        assert scene is not None
        node = next(n for n in scene.plan.timeline.stage.graph.nodes if n.name == "h")
        box = scene.box_of(node.id)
        assert box is not None
        menu = tab.seeds.node_menu(box)
        assert menu is not None
        action = next(action for action in menu.actions() if action.text().startswith("Jacobian"))
        action.trigger()
        menu.close()
        (view,) = tab.jacobians.windows
        qtbot.waitUntil(lambda: view.matrix is not None, timeout=60_000)
        assert view.matrix is not None
        np.testing.assert_array_equal(view.matrix.values, [[3, 3]])
        assert view.words.text() == (
            "vᵀJ, shape (2,): the only row. It is the gradient that call 1 computed, bit for bit."
        )
        qtbot.mouseClick(view.check.button, Qt.MouseButton.LeftButton)  # by its name: the node is made anew
        qtbot.waitUntil(lambda: bool(view.check.result.text()), timeout=60_000)
        assert float(view.check.result.text().split()[1]) == pytest.approx(3, rel=1e-8)

    def test_the_menu_of_a_call(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab = run_to_end(window, qtbot, script(tmp_path, SMALL))
        menu = tab.seeds.call_menu(1)
        next(action for action in menu.actions() if action.text().startswith("Jacobian")).trigger()
        menu.close()
        (view,) = tab.jacobians.windows
        qtbot.waitUntil(lambda: view.matrix is not None, timeout=60_000)

    def test_another_root_is_chosen_in_the_list(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = SMALL + "z = y.sum()\nz.backward(retain_graph=True)\n"
        text = text.replace("y.backward(", "y.backward(retain_graph=True, gradient=")
        _, view = open_jacobian(window, qtbot, script(tmp_path, text))
        assert view.matrix is not None
        np.testing.assert_array_equal(view.matrix.values, [[2, 4, 2]])  # z = y0 + y1
        place = view.root.findData("y")
        view.root.setFocus()
        for _ in range(place):
            qtbot.keyClick(view.root, Qt.Key.Key_Down)
        with qtbot.waitSignal(view.computed, timeout=60_000):
            view.root.activated.emit(place)
        np.testing.assert_array_equal(view.matrix.values, [[2, 1, 0], [0, 3, 2]])

    def test_a_new_run_closes_it(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab, view = open_jacobian(window, qtbot, script(tmp_path, SMALL))
        with qtbot.waitSignal(view.closed, timeout=60_000):
            window.actions_by_name["run"].trigger()
        qtbot.waitUntil(lambda: not tab.running.alive, timeout=60_000)
        assert tab.jacobians.windows == []


class TestWrong:
    def wrong(self, window: MainWindow, qtbot: QtBot, path: str) -> tuple[JacobianWindow, str]:
        tab = run_to_end(window, qtbot, path)
        qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=60_000)
        qtbot.keyClick(window, Qt.Key.Key_J)
        (view,) = tab.jacobians.windows
        with qtbot.waitSignal(view.told, timeout=60_000) as told:
            pass
        assert told.args is not None
        return view, told.args[0]

    def test_too_large_says_so_and_gives_the_rows_that_are_asked_for(
        self, window: MainWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        text = "import torch\nx = torch.ones(5000, requires_grad=True)\ny = x * 2\ny.backward(torch.ones(5000))\n"
        view, why = self.wrong(window, qtbot, script(tmp_path, text))
        assert "5000 x 5000" in why
        assert "Ask for some of its rows" in why
        qtbot.keyClicks(view.rows, "0-1, 4999")
        qtbot.keyClick(view.rows, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: view.matrix is not None, timeout=60_000)
        assert view.matrix is not None
        assert view.matrix.rows == (0, 1, 4999)
        assert view.matrix.values[2, 4999] == 2
        assert "3 of 5000 rows" in view.state.text()
        assert "not in it" in view.words.text()
        view.rows.clear()
        qtbot.keyClicks(view.rows, "1-x")
        qtbot.keyClick(view.rows, Qt.Key.Key_Return)
        assert "something else" in view.state.text()

    def test_complex_numbers(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = "import torch\nx = torch.ones(2, dtype=torch.complex64, requires_grad=True)\n"
        text += "y = x * 2\ny.backward(torch.ones(2, dtype=torch.complex64))\n"
        _, why = self.wrong(window, qtbot, script(tmp_path, text))
        assert "complex" in why

    def test_nan_is_counted_and_seen(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        text = "import torch\nx = torch.tensor([0.0, 4.0], requires_grad=True)\n"
        text += "y = x.sqrt() * 0\ny.backward(torch.ones(2))\n"
        _, view = open_jacobian(window, qtbot, script(tmp_path, text))
        assert "nan or infinite" in view.state.text()
        plan, image = view.map.plan, view.map.viewport().grab().toImage()
        assert plan is not None
        place = plan.rect(0, 0).topLeft() + QPointF(4, plan.cell[1] - 5)
        assert image.pixelColor(place.toPoint()).name() == QColor(window.look.colors.nonfinite).name()

    def test_the_process_dies_while_it_computes(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        tab, view = self.slow(window, qtbot, tmp_path)
        held = tab.running.snapshots.find("1")
        assert held is not None
        number = process(held)
        with qtbot.waitSignal(view.told, timeout=60_000) as told:
            os.kill(number, signal.SIGKILL)
        assert told.args == ["The snapshot of call 1 is gone. Run the script again to that call."]
        qtbot.waitUntil(lambda: is_gone(number))
        assert tab.session.recording is not None
        assert tab.session.recording.detail(1).accumulations  # the recording is whole

    def slow(self, window: MainWindow, qtbot: QtBot, folder: Path) -> tuple[Workspace, JacobianWindow]:
        """A Jacobian that takes minutes, on its way."""
        tab = run_to_end(window, qtbot, script(folder, SLOW))
        qtbot.waitUntil(lambda: tab.drawing.scene is not None, timeout=60_000)
        qtbot.keyClick(window, Qt.Key.Key_J)
        (view,) = tab.jacobians.windows
        qtbot.waitUntil(lambda: view.progress.maximum() == 4000, timeout=60_000)
        return tab, view

    def test_cancel_stops_it(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        _, view = self.slow(window, qtbot, tmp_path)
        with qtbot.waitSignal(view.told, timeout=60_000) as told:
            qtbot.mouseClick(view.cancel, Qt.MouseButton.LeftButton)
        assert told.args is not None
        assert "ancelled" in told.args[0]
        assert not view.cancel.isVisible()

    def test_closing_the_tab_ends_it(self, window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
        """Nothing is left: neither a process, nor (see `application`) a window, a thread or a file."""
        tab, _ = self.slow(window, qtbot, tmp_path)
        held = tab.running.snapshots.find("1")
        assert held is not None
        number = process(held)
        window.tabs.close(tab)
        qtbot.waitUntil(lambda: is_gone(number), timeout=30_000)


class TestParts:
    def test_rows(self) -> None:
        assert rows_asked("") is None
        assert rows_asked("all") is None
        assert rows_asked(" 0-2, 7") == (0, 1, 2, 7)
        for text in ("0-9999999999", "a", "1-2-3", "0-4000,0-4000"):
            with pytest.raises(SeedError):
                rows_asked(text)

    def test_names(self) -> None:
        assert element_name("y", (2, 3), 4) == "y[1, 1]"
        assert element_name("loss", (), 0) == "loss"

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_pooling_keeps_the_largest(self, dtype: Any) -> None:
        rng = np.random.default_rng(0)
        values = rng.standard_normal((37, 23)).astype(dtype)
        found = pooled(values, 5, 4)
        for i in range(8):
            for j in range(6):
                tile = values[5 * i : 5 * i + 5, 4 * j : 4 * j + 4]
                assert found[i, j] == tile.flat[np.argmax(np.abs(tile))]

    def test_one_odd_element_is_seen_among_thousands(self) -> None:
        values = np.zeros((1000, 1000), dtype=np.float32)
        values[437, 611] = np.nan
        image = coloured(pooled(values, 10, 10), 1.0, theme("light"))
        assert image.pixelColor(61, 43).name() == QColor(theme("light").nonfinite).name()

    def test_blocks_need_every_block_off_the_diagonal_to_be_zero(self) -> None:
        values = np.kron(np.eye(3), np.ones((2, 4)))
        made = JacobianMatrix(values, tuple(range(6)), "y", "x", (3, 2), (3, 4), "float64")
        assert made.samples == 3
        np.testing.assert_array_equal(made.diagonal, np.ones((6, 4)))
        values[0, 11] = 1e-30
        assert JacobianMatrix(values, tuple(range(6)), "y", "x", (3, 2), (3, 4), "float64").samples == 0

    def test_what_a_seed_does_not_take_adds_nothing(self) -> None:
        values = np.array([[np.nan, 1.0], [2.0, 3.0]])
        made = JacobianMatrix(values, (0, 1), "y", "x", (2,), (2,), "float64")
        np.testing.assert_array_equal(made.combined(np.array([0.0, 2.0])), [4.0, 6.0])

    def test_agreement(self) -> None:
        one = np.array([1.0, np.nan], dtype=np.float32)
        assert agreement(one, one.copy()).same
        apart = agreement(one, np.array([1.5, np.nan], dtype=np.float32))
        assert (apart.same, apart.difference) == (False, 0.5)

    def test_runs_and_round_numbers(self) -> None:
        assert _runs(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
        assert [_round(x) for x in (0.3, 1.5, 3, 11, 87)] == [1, 2, 5, 20, 100]
