"""Sentences with `code` in them, as the rich text of a label."""

from __future__ import annotations

import html
import re

_SPAN = re.compile(r"`([^`]+)`")


def rich(sentence: str, family: str) -> str:
    """HTML of a sentence in which what stands between backticks is set in the font `family`."""
    code = f"<span style=\"font-family:'{family}'\">\\1</span>"
    return _SPAN.sub(code, html.escape(sentence, quote=False))
