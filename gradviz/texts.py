"""Translation of user-visible texts outside the window's own (inside it Qt's `tr` does this).

The catalogue is gettext's: translators have tools for `.po` files (Poedit, Weblate), it knows the plural forms of each
language, and the standard library reads it, which is all that the worker has in the user's Python.

There are two voices, since a picture may speak another language than the messages about it: a figure in a document is
English unless asked otherwise, whatever the desktop of the person (or machine) that makes it.
"""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ENGLISH = "en"
LANGUAGES = (ENGLISH, "zh_CN")
OVERRIDE = "GRADVIZ_LANGUAGE"
"""Variable of the environment that stands over the system's own; where there are none (Windows) it is the way."""

_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"  # ideographs and the punctuation that goes with them
_CLOSING = "，。、：；！？）》」』”"  # must not begin a line
_PIECE = re.compile(rf"[（《「『“]*(?:[^\s{_WIDE}]+|[{_WIDE}])[{_CLOSING}]*\s*|\s+")


@dataclass(frozen=True)
class _Voice:
    language: str
    catalogue: gettext.NullTranslations


_MUTE = _Voice(ENGLISH, gettext.NullTranslations())
_messages = _pictures = _MUTE
_folder = ""


def use_language(language: str, folder: str | Path, pictures: str | None = None) -> None:
    """Speak `language` from now on, in pictures the language `pictures` (None: the same).

    `folder` holds `LANGUAGE/LC_MESSAGES/gradviz.mo`; texts stay English where that is not there.
    """
    global _messages, _pictures, _folder
    _folder = str(folder)
    _messages = _voice(language)
    _pictures = _messages if pictures is None else _voice(pictures)


def language() -> str:
    """The language of messages, of `LANGUAGES`."""
    return _messages.language


def picture_language() -> str:
    """The language of what is drawn, of `LANGUAGES`."""
    return _pictures.language


def handed_on() -> tuple[str, str]:
    """The first two arguments of `use_language` for another process of ours, to speak as this one does."""
    return _messages.language, _folder


def system_language(environment: Mapping[str, str] = os.environ) -> str:
    """The language that the system asks for, by the rules of gettext; English where we do not speak it.

    LC_ALL, LC_MESSAGES and LANG name the locale, the first that is set; LANGUAGE is a list of wishes that stands over
    it, unless the locale is "C".
    """
    asked = environment.get(OVERRIDE)
    if asked is None:
        locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "C")
        plain = locale.split(".")[0] in ("C", "POSIX")
        asked = ENGLISH if plain else environment.get("LANGUAGE") or locale
    known = (_known(wish) for wish in asked.split(":"))
    return next((language for language in known if language is not None), ENGLISH)


def tr(text: str, /, **values: object) -> str:
    """Return `text` in the language of messages with its `{name}` fields filled in."""
    return _said(_messages, text, values)


def trn(one: str, many: str, number: int, /, **values: object) -> str:
    """As `tr`, with the singular or plural form that `number` asks for; `{n}` is the number."""
    return _messages.catalogue.ngettext(one, many, number).format(n=number, **values)


def tr_picture(text: str, /, **values: object) -> str:
    """As `tr`, for what is drawn: in the language of pictures."""
    return _said(_pictures, text, values)


def trn_picture(one: str, many: str, number: int, /, **values: object) -> str:
    """As `trn`, in the language of pictures."""
    return _pictures.catalogue.ngettext(one, many, number).format(n=number, **values)


def pieces(text: str) -> list[str]:
    """The parts of a text between which a line may be broken, each with the spaces after it: words, or ideographs."""
    return _PIECE.findall(text)


def _said(voice: _Voice, text: str, values: Mapping[str, object]) -> str:
    # An empty text is the key of the catalogue's own head.
    translated = voice.catalogue.gettext(text) if text else text
    return translated.format(**values) if values else translated


def _voice(language: str) -> _Voice:
    try:
        with open(os.path.join(_folder, language, "LC_MESSAGES", "gradviz.mo"), "rb") as file:
            return _Voice(language, gettext.GNUTranslations(file))
    except OSError:
        return _MUTE


def _known(wish: str) -> str | None:
    """`zh_CN` for zh_CN.UTF-8, zh-Hans, zh_SG and the like: a reader of Chinese has no other choice here."""
    short = wish.replace("-", "_").split("_")[0].split(".")[0].lower()
    return next((language for language in LANGUAGES if language.split("_")[0] == short), None)
