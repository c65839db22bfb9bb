"""The part of legacy-api about scripts that do not run any more: Python 2, and forms that raise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.explain.legacy_names import METHODS2, MODULES2, PYTHON2
from gradviz.explain.source import Source
from gradviz.model import Finding, Place
from gradviz.texts import tr


def unparsable(facts: Facts, source: Source) -> Iterator[Finding]:
    """A script that does not parse because it is old."""
    error = source.error
    assert error is not None
    place = Place(source.file, error.lineno or 1)
    text = facts.line_text(place)
    if isinstance(error, TabError):
        message = tr("{code} mixes tabs and spaces, which only Python 2 allowed.", code=words.code(text))
        advice = tr("Replace all tabs by spaces: {command}.", command=words.code("expand -t 8"))
    elif re.match(r"print\s+[^(\s=.\[]", text) or "Missing parentheses in call to 'print'" in (error.msg or ""):
        message = tr("{code} is Python 2; Python 3 cannot run this script.", code=words.code(text))
        inside = text[len("print") :].strip()
        advice = tr("Write {code}, or convert the whole file.", code=words.code(f"print({inside})"))
    elif re.search(r"\basync\s*=", text):
        message = tr(
            "{code}: {word} is a keyword of Python since 3.7.", code=words.code(text), word=words.code("async")
        )
        advice = tr("Write {code}.", code=words.code(re.sub(r"\basync\s*=", "non_blocking=", text)))
    elif re.match(r"except\s+[\w.]+\s*,\s*\w+\s*:", text):
        message = tr("{code} is Python 2; Python 3 cannot run this script.", code=words.code(text))
        advice = tr("Write {code}.", code=words.code(re.sub(r"\s*,\s*(\w+)\s*:", r" as \1:", text)))
    elif re.match(r"(exec|raise)\s+\w+\s*,", text) or "<>" in text:
        message = tr("{code} is Python 2; Python 3 cannot run this script.", code=words.code(text))
        advice = tr("Convert the file to Python 3.")
    else:
        return
    yield Finding("legacy-api", "error", None, None, place, message, advice)


def deaths(facts: Facts) -> Iterator[Finding]:
    """A script that died of a name, a method or a module of Python 2, or of a form that PyTorch has given up."""
    outcome, place = facts.recording.outcome, facts.end_place
    if place is None:
        return
    text = facts.line_text(place)
    for kind, pattern, build in _DEATHS:
        found = re.search(pattern, outcome.message or "")
        if outcome.type in kind and found and (built := build(facts, place, text, found)) is not None:
            yield Finding("legacy-api", "error", None, None, place, *built)
            return


_Built = tuple[str, str] | None


def _name2(facts: Facts, place: Place, text: str, found: re.Match[str]) -> _Built:
    new = PYTHON2.get(found[1])
    return None if new is None else _of_python2(facts, place, found[1], re.sub(rf"\b{found[1]}\b", new, text) or new)


def _method2(facts: Facts, place: Place, text: str, found: re.Match[str]) -> _Built:
    new = METHODS2.get(found[1])
    if new is None:
        return None
    owner = re.search(rf"([\w.\[\]]+)\.{found[1]}\(\)", text)
    if found[1] == "next" and owner:
        return _of_python2(facts, place, found[1], text.replace(owner[0], f"next({owner[1]})"))
    return _of_python2(facts, place, found[1], re.sub(rf"\.{found[1]}\(\)", f".{new}", text) if owner else new)


def _module2(facts: Facts, place: Place, text: str, found: re.Match[str]) -> _Built:
    new = MODULES2.get(found[1])
    return None if new is None else _of_python2(facts, place, found[1], text.replace(found[1], new))


def _printed2(facts: Facts, place: Place, text: str, found: re.Match[str]) -> _Built:
    parts = re.match(r"print\s*>>\s*([\w.]+)\s*,\s*(.*)", text)
    return None if parts is None else _of_python2(facts, place, "print >>", f"print({parts[2]}, file={parts[1]})")


def _of_python2(facts: Facts, place: Place, name: str, code: str) -> tuple[str, str]:
    message = tr(
        "{name} in {line} is Python 2; Python 3 has no such name.",
        name=words.code(name),
        line=words.line(facts, place),
    )
    return message, tr("Write {code}.", code=words.code(code))


def _old_function(facts: Facts, place: Place, text: str, found: re.Match[str]) -> _Built:
    message = tr(
        "{code} in {line}: {effect}",
        code=words.code(text),
        line=words.line(facts, place),
        effect=tr("an autograd function with methods that are not static is gone and raises."),
    )
    return message, tr(
        "Give {forward} and {backward} the decorator {static} and the argument {ctx}, and call {apply}.",
        forward=words.code("forward"),
        backward=words.code("backward"),
        static=words.code("@staticmethod"),
        ctx=words.code("ctx"),
        apply=words.code("Function.apply(x)"),
    )


def _bool_minus(facts: Facts, place: Place, text: str, found: re.Match[str]) -> _Built:
    message = tr(
        "{code} in {line}: {effect}",
        code=words.code(text),
        line=words.line(facts, place),
        effect=tr("a comparison gives a bool tensor since PyTorch 1.2, which cannot be subtracted."),
    )
    mask = re.search(r"1(?:\.0?)?\s*-\s*([\w.]+)", text)
    inverted = text.replace(mask[0], f"~{mask[1]}") if mask else "~mask"
    return message, tr("Write {code}.", code=words.code(inverted))


_DEATHS: tuple[tuple[tuple[str, ...], str, Callable[[Facts, Place, str, re.Match[str]], _Built]], ...] = (
    (("NameError",), r"name '(\w+)' is not defined", _name2),
    (("AttributeError",), r"object has no attribute '(\w+)'", _method2),
    (("ModuleNotFoundError",), r"No module named '([\w.]+)'", _module2),
    (("TypeError",), r"unsupported operand type\(s\) for >>: 'builtin_function_or_method'", _printed2),
    (("RuntimeError",), r"Legacy autograd function with non-static forward method", _old_function),
    (("RuntimeError",), r"Subtraction, the `-` operator, with a bool tensor is not supported", _bool_minus),
)
