"""How a tensor is shown: number, grid, heat map or words."""

from __future__ import annotations

import math

import pytest

from gradviz.model import TensorValue, Thumbnail
from gradviz.render import fonts, theme
from gradviz.render.cells import Tone, cell_kind, cell_shapes, cell_size
from gradviz.render.heat import heat_of, heat_size, matrix_shape
from gradviz.render.shapes import Raster, Rect, Text
from tests.recordings import tensor

VALUES = {
    "none": None,
    "scalar": tensor(3.0),
    "one element": tensor([[7.0]]),
    "grid": tensor([[1.0, -2.0, 3.0], [4.0, 5.0, math.nan]]),
    "deep grid": tensor([[[1.0]], [[2.0]], [[3.0]]]),
    "vector": tensor([float(k) for k in range(13)]),
    "complex grid": tensor([1 + 2j, 3 - 4j], "complex64"),
    "complex heat": tensor([complex(k, 1) for k in range(20)], "complex64"),
    "integers": tensor(list(range(20)), "int64"),
    "empty": TensorValue((0, 3), "float32", data=b""),
    "thumbnail": TensorValue((900, 900), "float32", thumbnail=Thumbnail(2, 2, (1.0, 2.0, 3.0, -4.0))),
    "sparse": TensorValue((40, 2), "float32", data=b"\0" * 320, layout="sparse_coo", nnz=3),
    "unreadable": TensorValue((3,), "quint8", unreadable="quantised"),
}
KINDS = {
    "none": "none",
    "scalar": "scalar",
    "one element": "scalar",
    "grid": "grid",
    "deep grid": "grid",
    "vector": "heat",
    "complex grid": "grid",
    "complex heat": "heat",
    "integers": "heat",
    "empty": "text",
    "thumbnail": "heat",
    "sparse": "heat",
    "unreadable": "text",
}


@pytest.mark.parametrize("name", VALUES)
def test_the_kind_of_a_value(name: str) -> None:
    assert cell_kind(VALUES[name]) == KINDS[name]


@pytest.mark.parametrize("name", VALUES)
def test_a_cell_stays_inside_its_size(name: str) -> None:
    value, known = VALUES[name], fonts()
    width, height = cell_size([value], known)
    tone = Tone("#000000", "#333333", "#fce3d2", True)
    for shape in cell_shapes(value, 0.0, 0.0, tone, theme("light"), known):
        if isinstance(shape, Text):
            assert shape.left >= -0.01 and shape.left + shape.width <= width + 0.01 and shape.y <= height + 1.0
        elif isinstance(shape, Rect | Raster):
            assert shape.x >= 0 and shape.x + shape.width <= width + 0.01 and shape.y + shape.height <= height + 0.01


def test_heat_of_complex_numbers_is_their_magnitude() -> None:
    heat = heat_of(VALUES["complex heat"])  # type: ignore[arg-type]
    assert heat.values[3] == pytest.approx(math.hypot(3, 1))


def test_blocks_are_means_and_a_nan_stays_visible() -> None:
    rows = [[float(r) for _ in range(64)] for r in range(32)]
    rows[0][0] = math.nan
    heat = heat_of(tensor(rows))
    assert (heat.rows, heat.columns) == (16, 32)
    assert math.isnan(heat.values[0])
    assert heat.values[1] == pytest.approx(0.5) and heat.values[-1] == pytest.approx(30.5)


def test_shapes_of_maps() -> None:
    assert matrix_shape((7,)) == (1, 7) and matrix_shape((2, 3, 5)) == (6, 5)
    wide, tall = heat_size((2, 200)), heat_size((200, 2))
    assert wide[0] > 4 * wide[1] and tall[1] > tall[0]
    assert all(14.0 <= h <= 54.0 and 28.0 <= w <= 96.0 for w, h in map(heat_size, [(1,), (5, 5), (10**6, 1), (0, 4)]))
