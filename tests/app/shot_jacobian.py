"""The Jacobian of a small batch, in a window of its own process, at the scale of QT_SCALE_FACTOR.

usage: python -m tests.app.shot_jacobian THEME LANGUAGE OUT.png [folded]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from gradviz.app.application import Application
from gradviz.app.recovery import Recovery
from gradviz.app.settings import Settings
from tests.app.shot import at_rest, wait

# What the document on torch.autograd.grad asks: y = model(x) of shape (batch, out), and its gradient by x (batch, in).
SCRIPT = """import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 20), nn.Tanh(), nn.Linear(20, 2)).double()
x = torch.rand(4, 3, requires_grad=True, dtype=torch.float64)
y = model(x)
torch.autograd.grad(y, x, torch.ones_like(y))
"""


def main(theme: str, language: str, out: str, folded: str = "") -> None:
    """Take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        store = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        store.setValue("look/theme", theme)
        store.setValue("look/language", language)
        settings = Settings(store)
        application = Application(QApplication(["gradviz"]), settings, Recovery(f"{folder}/recordings"))
        window = application.open_window()
        window.show()
        script = Path(folder, "batch.py")
        script.write_text(SCRIPT, encoding="utf-8")
        settings.trust_file(str(script))
        window.open_path(str(script))
        tab = window.current
        assert tab is not None
        wait(application.qt, lambda: tab.drawing.scene is not None and not tab.running.alive)
        wait(application.qt, lambda: tab.session.loaded is not None and not tab.session.loaded.live)
        view = tab.jacobians.open("1")
        assert view is not None
        view.resize(1000, 560)
        wait(application.qt, lambda: view.matrix is not None)
        view.fold.setChecked(bool(folded))
        parts = (view.seeds.element, view.seeds.own, view.check.name)
        wait(application.qt, lambda: all(part.width() >= part.sizeHint().width() for part in parts))
        application.qt.processEvents()
        at_rest(view).save(out)
        application.close()


if __name__ == "__main__":
    main(*sys.argv[1:5])
