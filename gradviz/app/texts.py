"""Translation of the window's texts: Qt's translator, one context, named fields."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

CONTEXT = "gradviz"


def tr(text: str, /, **values: object) -> str:
    """`text` in the language of the window, its `{name}` fields filled in."""
    translated = QCoreApplication.translate(CONTEXT, text)
    return translated.format(**values) if values else translated


def trn(one: str, many: str, number: int, /, **values: object) -> str:
    """As `tr`, with the text for one thing or for `number` things; `{n}` is the number."""
    return tr(one if number == 1 else many, n=number, **values)
