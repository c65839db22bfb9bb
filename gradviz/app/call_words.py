"""A call by its label, in words: `call 2`, and of an experiment `what-if 1 on call 2`."""

from __future__ import annotations

from gradviz.app.texts import tr


def call_words(label: str) -> str:
    """The words for a label such as `2`, `2.1`, or `2?1` of the first experiment on call 2."""
    own, mark, number = label.partition("?")
    return tr("what-if {n} on call {label}", n=number, label=own) if mark else tr("call {label}", label=own)
