"""Colours can be read, and told apart by the colour-blind."""

from __future__ import annotations

import math

import pytest

from gradviz.errors import UsageError
from gradviz.model import TensorValue
from gradviz.render import THEMES, theme
from gradviz.render.scale import LogScale, scale_of, signed_color
from gradviz.render.theme import call_shade, contrast, ink_on, mix, rgb
from tests.recordings import tensor

INKS = {
    "ink": "paper card operation_fill leaf_fill root_fill custom_fill opaque_fill group_fill error_fill",
    "soft_ink": "paper card leaf_fill root_fill custom_fill opaque_fill group_fill retained_fill accent_fill pill",
    "accent_ink": "accent_fill card paper leaf_fill root_fill",
    "retained_ink": "retained_fill",
    "error_ink": "error_fill paper card",
}


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # the well-known grey that just fails
    assert contrast("#123456", "#123456") == pytest.approx(1.0)


@pytest.mark.parametrize("name", THEMES)
def test_every_ink_reads_on_every_ground_that_it_is_used_on(name: str) -> None:
    colors = theme(name)
    for ink, grounds in INKS.items():
        for ground in grounds.split():
            assert contrast(getattr(colors, ink), getattr(colors, ground)) >= 4.5, (ink, ground)


@pytest.mark.parametrize("name", THEMES)
def test_numbers_read_on_every_tint_of_the_scale(name: str) -> None:
    colors, scale = theme(name), LogScale(-3.0, 3.0)
    for k in range(-40, 41):
        ground = scale.tint(10.0 ** (k / 10), colors)
        assert contrast(ink_on(ground, colors.accent_ink), ground) >= 4.5
        for value in (-1.0, 1.0):
            signed = signed_color(value * k, 40.0, colors)
            assert contrast(ink_on(signed, colors.ink), signed) >= 4.5


def deuteranope(color: str) -> tuple[float, float, float]:
    """A colour as seen without the middle cones (matrix of Vienot, Brettel, Mollon 1999, on linear light)."""
    linear = [(v / 255) ** 2.2 for v in rgb(color)]
    red = 0.29275 * linear[0] + 0.70725 * linear[1]
    blue = -0.02234 * linear[0] + 0.02234 * linear[1] + linear[2]
    return red, red, blue


def apart(one: str, other: str) -> float:
    seen = zip(deuteranope(one), deuteranope(other), strict=True)
    return math.sqrt(sum((max(a, 0) ** (1 / 2.2) - max(b, 0) ** (1 / 2.2)) ** 2 for a, b in seen)) * 255


@pytest.mark.parametrize("name", ["light", "dark"])
def test_kinds_and_signs_are_told_apart_without_green_cones(name: str) -> None:
    colors = theme(name)
    lines = [colors.leaf_line, colors.accent, colors.root_line, colors.operation_line]
    for k, one in enumerate(lines):
        for other in lines[k + 1 :]:
            assert apart(one, other) > 25, (one, other)
    assert apart(colors.negative, colors.positive) > 80


def test_neighbouring_calls_have_other_shades() -> None:
    colors = theme("light")
    assert all(call_shade(colors, k) != call_shade(colors, k + 1) for k in range(12))


def test_zero_none_nan_and_small_look_different() -> None:
    for colors in THEMES.values():
        scale = LogScale(-8.0, 2.0)
        values = [tensor(0.0), None, tensor(math.nan), tensor(1e-8), TensorValue((2,), "quint8", unreadable="x")]
        assert len({scale.color(value, colors) for value in values}) == len(values)


def test_the_scale_holds_all_finite_norms_or_what_was_chosen() -> None:
    assert scale_of([1.0, 20.0, 0.0, None, math.inf, math.nan]) == LogScale(0.0, math.log10(20.0))
    single = scale_of([10.0])
    assert single.low < 1.0 < single.high
    fixed = scale_of([1.0], (-5, 5))
    assert (fixed.low, fixed.high, fixed.fixed) == (-5.0, 5.0, True)
    assert not scale_of([0.0, None]).used
    assert scale_of([1.0, 100.0]).share(10.0) == pytest.approx(0.5)


def test_mixing_and_unknown_themes() -> None:
    assert mix("#000000", "#ffffff", 0.5) == "#808080"
    with pytest.raises(UsageError, match="light"):
        theme("pink")
