"""The page of a finding's code: cause, example, picture and remedy, as in the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from gradviz.app.texts import tr
from gradviz.explain.pages import PICTURES, index_text, page_text
from gradviz.explain.table import ROWS
from gradviz.model import Code
from gradviz.resources import resource

_PICTURE_WIDTH = 620


def _file(name: str) -> Path:
    return resource("docs", "findings").joinpath(name)


def show_finding_page(parent: QWidget, code: Code | None = None) -> FindingPage:
    """Show the page of a code, or the list of all, beside the window, which goes on working."""
    page = FindingPage(code, parent)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    page.show()
    return page


class PageText(QTextBrowser):
    """The text of a page, its pictures as wide as the lines, however large they were made."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """A picture of the findings' folder, reduced smoothly."""
        picture = QImage(str(_file(QUrl(name).path())))
        if picture.isNull():
            return super().loadResource(kind, name)
        ratio = self.devicePixelRatioF()
        reduced = picture.scaledToWidth(round(_PICTURE_WIDTH * ratio), Qt.TransformationMode.SmoothTransformation)
        reduced.setDevicePixelRatio(ratio)
        return reduced


class FindingPage(QDialog):
    """Shows the page of one code; links lead to the others and to the list of all.

    Signals:
        turned(str): the code whose page is shown now, empty for the list.
    """

    turned = Signal(str)

    def __init__(self, code: Code | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Findings explained"))
        self._pages = {row.code: row.page for row in ROWS}
        self.text = PageText()
        self.text.setOpenLinks(False)
        self.text.setAccessibleName(tr("Page of a finding"))
        self.text.anchorClicked.connect(self._follow)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.all = buttons.addButton(tr("All findings"), QDialogButtonBox.ButtonRole.ActionRole)
        self.all.clicked.connect(lambda: self.turn_to(None))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(18, 16, 18, 14)
        layout.addWidget(self.text)
        layout.addWidget(buttons)
        self.resize(720, 680)
        self.turn_to(code)

    def turn_to(self, code: Code | None) -> None:
        """Show the page of this code, or the list of all."""
        if code is None:
            self.text.setMarkdown(index_text())
        else:
            picture = f"{PICTURES}/{code}.png"
            self.text.setMarkdown(page_text(self._pages[code], picture if _file(picture).exists() else None))
        self.turned.emit(code or "")

    def _follow(self, link: QUrl) -> None:
        name = Path(link.path()).stem
        self.turn_to(next((code for code in self._pages if code == name), None))
