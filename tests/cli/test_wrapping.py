"""Paragraphs for a terminal, where an ideograph takes two columns and a line may end between any two."""

from __future__ import annotations

import textwrap

import pytest

from gradviz.cli.wrapping import columns, padded, wrapped

ENGLISH = "`A` has shape (2,), that is 2 numbers, and `A.backward()` gives no seed; only then does PyTorch take 1."
CHINESE = (
    "`A` 的形状是 (2,)，也就是 2 个数，而 `A.backward()` 没有给出种子；只有当根恰好是一个数时，PyTorch 才会自己取 1。"
)


@pytest.mark.parametrize("width", [20, 33, 60, 200])
def test_english_is_wrapped_as_the_standard_library_does(width: int) -> None:
    told = textwrap.wrap(
        ENGLISH, width, initial_indent="> ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    assert wrapped(ENGLISH, "> ", width) == told


@pytest.mark.parametrize("width", [24, 41, 80])
def test_chinese_fits_and_loses_nothing(width: int) -> None:
    lines = wrapped(CHINESE, "  ", width)
    assert len(lines) > 1
    assert max(map(columns, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(CHINESE.split())
    assert not [line for line in lines if line.strip()[0] in "，。；：！？）"]


def test_nothing_is_no_line() -> None:
    assert wrapped("", "  ", 40) == []


def test_columns_are_padded_by_width() -> None:
    assert (columns("错误"), columns("error")) == (4, 5)
    assert (padded("错误", 6), padded("error", 6), padded("warning", 6)) == ("错误  ", "error ", "warning")
