"""Simplified Chinese: nothing is untranslated, no field is lost, and the window speaks it."""

from __future__ import annotations

import gettext
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from gradviz.app.main_window import MainWindow
from gradviz.app.settings import Settings
from gradviz.app.translation import language_of
from tests.app import translations
from tests.app.conftest import Open
from tests.app.test_looks import shot
from tests.recordings import two_calls


def test_every_text_of_the_window_is_translated() -> None:
    texts, known = translations.window_texts(), translations.window_translations()
    assert len(texts) > 300
    assert texts - known.keys() == set()
    assert known.keys() - texts == set()  # nothing is left over from texts that are gone


def test_every_other_text_is_translated() -> None:
    texts, known = translations.other_texts(), translations.other_translations()
    assert len(texts) > 600
    assert texts - known.keys() == set()
    assert known.keys() - texts == set()


def test_no_field_is_lost() -> None:
    window = translations.window_translations()
    assert [text for text, other in window.items() if translations.fields(text) != translations.fields(other)] == []
    others = translations.other_translations()
    assert [
        forms for forms, other in others.items() if translations.fields(forms[-1]) != translations.fields(other)
    ] == []


def test_code_is_the_same_in_every_language() -> None:
    others = translations.other_translations()
    assert [forms for forms, text in others.items() if translations.code(forms[-1]) != translations.code(text)] == []


def test_a_po_file_is_read_as_it_was_written() -> None:
    entries = {("one", "many"): "x", ('a "b"\\n\n',): "c\n\\d", ("empty",): ""}
    read = translations.read_po(translations.po_text(entries))
    assert read == {("",): translations.HEAD, **entries}
    wrapped = 'msgid ""\n"a long "\n"text"\nmsgstr ""\n"x"\n"y"\n'  # as Poedit writes it
    assert translations.read_po(wrapped) == {("a long text",): "xy"}


def test_the_compiled_files_are_those_of_the_sources() -> None:
    translator = QTranslator()
    assert translator.load(str(translations.QM))
    for text, other in translations.window_translations().items():
        assert translator.translate("gradviz", text) == other
    with translations.MO.open("rb") as file:
        catalogue = gettext.GNUTranslations(file)
    for forms, other in translations.other_translations().items():
        assert (catalogue.ngettext(*forms, 3) if len(forms) == 2 else catalogue.gettext(*forms)) == other


@pytest.mark.parametrize(("choice", "language"), [("en", "en"), ("zh_CN", "zh_CN"), ("klingon", "en")])
def test_a_choice_stands_over_the_system(qapp: object, choice: str, language: str) -> None:
    assert language_of(choice) == language


class TestChinese:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        settings.language = "zh_CN"
        return settings

    def test_the_window_speaks_it(self, opened: Open, window: MainWindow) -> None:
        tab = opened(two_calls())
        assert window.actions_by_name["export"].text() == "导出(&E)…"
        assert tab.middle.header.title.text().startswith("第 2 次调用，共 2 次")
        tab.session.player.seek(1.5)
        assert tab.middle.header.sentence.text() == "引擎第 1 步，共 2 步: t2 把 1 · 4 = 4 传给 t1"
        assert window.docks.docks["source"].windowTitle() == "源代码"


def test_the_next_window_speaks_english_again(window: MainWindow) -> None:
    assert window.actions_by_name["export"].text() == "&Export …"


@pytest.mark.parametrize(("scale", "theme"), [("1", "dark"), ("2", "light")])
def test_its_pictures_cut_no_word(tmp_path: Path, scale: str, theme: str) -> None:
    seen = shot(tmp_path, scale, theme, "zh_CN")
    assert seen["title"].startswith("第 2 次调用")
    assert seen["run"] == "重新运行(&R)"
    assert seen["cut"] == []
