"""The numbers that are typed after an option, refused with a sentence where they mean nothing."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from gradviz.errors import UsageError
from gradviz.protocol import parse_calls
from gradviz.texts import tr


def whole(least: int) -> Callable[[str], int]:
    """A whole number of at least `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(
                tr("{text!r} does not fit; write a whole number from {least}", text=text, least=least)
            )
        return number

    return read


def real(above: float = -math.inf, least: float = -math.inf) -> Callable[[str], float]:
    """A finite number that is greater than `above` and not less than `least`."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise argparse.ArgumentTypeError(tr("{text!r} is no number", text=text))
        if number <= above:
            raise argparse.ArgumentTypeError(
                tr("{text!r} does not fit; it must be above {least:g}", text=text, least=above)
            )
        if number < least:
            raise argparse.ArgumentTypeError(
                tr("{text!r} does not fit; it must be at least {least:g}", text=text, least=least)
            )
        return number

    return read


def size(text: str) -> int:
    """Bytes from `200M`, `2G`, `5000`."""
    units = {"K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
    number, unit = (text[:-1], text[-1:].upper()) if text[-1:].upper() in units else (text, "")
    try:
        found = int(float(number) * units.get(unit, 1))
    except (ValueError, OverflowError):
        found = 0
    if found < 1:
        raise argparse.ArgumentTypeError(tr("{text!r} is no size; write 200M or 2G", text=text))
    return found


def calls(text: str) -> str:
    """`1,5,10-20` as it is, for the worker reads it; refused here, before a script has run for nothing."""
    try:
        parse_calls(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from error
    return text
