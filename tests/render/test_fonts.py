"""Texts are measured as Qt draws them, elided in the middle, and a machine without fonts is told so."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontDatabase, QFontMetricsF

from gradviz.errors import ExportError
from gradviz.render import fonts
from gradviz.render.fonts import CELL, NAME, NUMBER_BOLD, TAG, Fonts


def test_widths_are_those_of_qt() -> None:
    known = fonts()
    for style in (NAME, TAG, CELL, NUMBER_BOLD):
        for text in ("t1", "-1.234e-07", "encoder.layers.3", "∂L/∂θ", "梯度 нос"):
            assert known.width(text, style) == pytest.approx(QFontMetricsF(known.font(style)).horizontalAdvance(text))


def test_digits_have_one_width() -> None:
    known = fonts()
    assert len({known.width(c * 4, CELL) for c in "0123456789.-e"}) == 1


def test_long_names_lose_their_middle() -> None:
    known = fonts()
    name = "encoder.layers.3.self_attn.out_proj.weight"
    cut = known.elide(name, NAME, 150.0)
    assert known.width(cut, NAME) <= 150.0
    head, tail = cut.split("…")
    assert name.startswith(head) and name.endswith(tail) and head and tail
    assert abs(len(head) - len(tail)) <= 1
    assert known.elide("t1", NAME, 150.0) == "t1"
    assert known.width(known.elide("変数" * 40, NAME, 100.0), NAME) <= 100.0
    assert known.elide("abc", NAME, 0.0) == "…"


def test_wrapping_keeps_words_and_elides_the_rest() -> None:
    known = fonts()
    text = "grad can be implicitly created only for scalar outputs " * 3
    lines = known.wrap(text, TAG, 200.0, 3)
    assert len(lines) == 3
    assert all(known.width(line, TAG) <= 200.0 for line in lines)
    assert "…" in lines[-1] and "…" not in "".join(lines[:-1])
    assert " ".join(known.wrap("one two three", TAG, 60.0, 9)) == "one two three"
    assert known.wrap("", TAG, 60.0, 2) == []
    assert known.width(known.wrap("x" * 500, TAG, 100.0, 2)[0], TAG) <= 100.0


def test_no_font_at_all_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFontDatabase, "families", lambda *_: [])
    with pytest.raises(ExportError, match="no font"):
        Fonts()


def test_the_fonts_in_use_are_named_and_there() -> None:
    sans, mono = fonts().description.split(", ")
    assert sans and mono
    assert {sans, mono} <= {*QFontDatabase.families(), sans, mono}
