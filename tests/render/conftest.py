"""Pictures need a QGuiApplication; widgets are not needed."""

from __future__ import annotations

import pytest

from gradviz.render import ensure_gui


@pytest.fixture(autouse=True, scope="session")
def gui() -> None:
    ensure_gui()
