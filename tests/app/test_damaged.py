"""Damaged recordings in the window: what can be read is shown, what cannot is told, and nothing is raised."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradviz.app.main_window import MainWindow
from gradviz.app.workspace import Workspace
from gradviz.resources import resource


def damaged(folder: Path, table: str, column: str, call: int | None) -> str:
    """The two calls of the bundled example with a column of a table overwritten by zeros, of one call or of all."""
    path = folder / "damaged.gradviz"
    shutil.copy(str(resource("examples", "accumulate.gradviz")), path)
    connection = sqlite3.connect(path)
    where = "" if call is None else f" WHERE call={call}"
    connection.execute(f"UPDATE {table} SET {column}=zeroblob(length({column})){where}")
    connection.commit()
    connection.close()
    return str(path)


def opened(window: MainWindow, qtbot: QtBot, path: str) -> tuple[Workspace, list[str]]:
    """The tab after the recording was read, and what it said meanwhile."""
    told: list[str] = []
    window.tabs.said.connect(told.append)
    window.open_path(path)
    tab = window.current
    assert tab is not None
    qtbot.waitUntil(lambda: bool(told) or tab.drawing.scene is not None, timeout=20_000)
    return tab, told


@pytest.mark.parametrize(("call", "other"), [(1, 2), (2, 1)])
def test_the_other_call_is_told_and_the_damaged_one_named(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, call: int, other: int
) -> None:
    tab, told = opened(window, qtbot, damaged(tmp_path, "executions", "data", call))
    qtbot.waitUntil(lambda: tab.drawing.scene is not None)
    assert f"call {call}" in told[0]
    assert "damaged" in told[0]
    assert tab.middle.header.title.text().startswith(f"Call {other} of 2")


def test_a_damaged_call_that_is_clicked_says_why_it_is_not_shown(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    tab, told = opened(window, qtbot, damaged(tmp_path, "executions", "data", 1))
    qtbot.waitUntil(lambda: tab.drawing.scene is not None)
    told.clear()
    row = tab.calls.tree.visualRect(tab.calls.model.of_call(1))
    qtbot.mouseClick(tab.calls.tree.viewport(), Qt.MouseButton.LeftButton, pos=row.center())
    qtbot.waitUntil(lambda: bool(told))
    assert "damaged" in told[0]
    assert tab.middle.header.title.text().startswith("Call 2 of 2")  # what was shown stays


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("executions", "data"), ("accumulations", "data"), ("graphs", "keys"), ("call_graphs", "ids"),
        ("node_values", "data"),
    ],
)  # fmt: skip
def test_no_table_raises(window: MainWindow, qtbot: QtBot, tmp_path: Path, table: str, column: str) -> None:
    connection = sqlite3.connect(str(resource("examples", "accumulate.gradviz")))
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    connection.close()
    blob = column if column in columns else columns[-2]  # the last one is the checksum
    tab, told = opened(window, qtbot, damaged(tmp_path, table, blob, None))
    if tab.drawing.scene is None:
        assert tab.middle.page == "words"
        assert "damaged" in told[0]
