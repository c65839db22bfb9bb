"""A view survives its JSON form, and what is no view is refused in words."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradviz.errors import UsageError
from gradviz.model import Camera, ViewState

finite = st.floats(allow_nan=False, allow_infinity=False)
keys = st.lists(st.text(), max_size=3).map(tuple)
views = st.builds(
    ViewState,
    call=st.none() | st.text(),
    time=st.none() | finite,
    expanded=keys,
    folded=keys,
    selected=keys,
    bookmarks=keys,
    camera=st.none() | st.builds(Camera, finite, finite, finite),
    filters=keys,
    direction=st.sampled_from(["RL", "LR", "TB", "BT"]),
    order=st.sampled_from(["engine", "wavefront"]),
    theme=st.sampled_from(["light", "dark", "print", "contrast"]),
    scale_range=st.none() | st.tuples(finite, finite),
    legend=st.booleans(),
    captions=st.booleans(),
    title=st.none() | st.text(),
)


@given(views)
def test_a_view_comes_back(view: ViewState) -> None:
    assert ViewState.from_json(view.to_json()) == view


def test_only_what_differs_is_written() -> None:
    assert json.loads(ViewState().to_json()) == {"view": 1}
    view = ViewState(call="2.1", selected=("MulBackward0@a.py:3#0",), camera=Camera(1.0, 2.0, 0.5))
    assert json.loads(view.to_json()) == {
        "view": 1,
        "call": "2.1",
        "selected": ["MulBackward0@a.py:3#0"],
        "camera": {"x": 1.0, "y": 2.0, "zoom": 0.5},
    }


def test_fields_of_a_newer_version_are_ignored() -> None:
    text = '{"view": 1, "call": "3", "tilt": 4, "camera": {"x": 1, "y": 2, "zoom": 3, "roll": 4}}'
    assert ViewState.from_json(text) == ViewState(call="3", camera=Camera(1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "1",
        "null",
        "{}",
        '{"view": 2}',
        '{"view": "1"}',
        '{"call": "3"}',
        '{"view": 1, "call": 3}',
        '{"view": 1, "time": "now"}',
        '{"view": 1, "time": true}',
        '{"view": 1, "time": NaN}',
        '{"view": 1, "time": 1e999}',
        '{"view": 1, "time": ' + "9" * 400 + "}",
        '{"view": 1, "expanded": "all"}',
        '{"view": 1, "expanded": [1]}',
        '{"view": 1, "expanded": null}',
        '{"view": 1, "camera": [1, 2, 3]}',
        '{"view": 1, "camera": {"x": "1"}}',
        '{"view": 1, "camera": {"x": Infinity}}',
        '{"view": 1, "direction": "up"}',
        '{"view": 1, "theme": null}',
        '{"view": 1, "scale_range": [1]}',
        '{"view": 1, "scale_range": [1, 2, 3]}',
        '{"view": 1, "legend": 1}',
        "[" * 100_000,
    ],
)
def test_what_is_no_view_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError, match="not a view file"):
        ViewState.from_json(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_read_or_refused(raw: object) -> None:
    names = [field.name for field in fields(ViewState)]
    for text in (json.dumps(raw), *(json.dumps({"view": 1, name: raw}) for name in names)):
        try:
            view = ViewState.from_json(text)
        except UsageError:
            continue
        assert ViewState.from_json(view.to_json()) == view
