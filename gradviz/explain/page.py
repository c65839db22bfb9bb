"""What a page of a code is: the texts behind a finding, in one place for window, command and docs."""

from __future__ import annotations

from dataclasses import dataclass

from gradviz.model import Code


@dataclass(frozen=True, slots=True)
class Page:
    """The page of one code. Texts are English and translated when shown (`gradviz.texts.tr`); no fields in braces.

    `cause`, `remedy` and `see` are paragraphs in Markdown; `example` is a whole script that leads to the finding,
    `fixed` the same script put right. `errors` are messages of PyTorch and Python that this code explains, each with
    what is said of it: the end of a sentence that begins with "gradviz says".
    """

    code: Code
    title: str
    cause: str
    example: str
    remedy: str
    fixed: str
    errors: tuple[tuple[str, str], ...] = ()
