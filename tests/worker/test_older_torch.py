"""What torch 2.1 and 2.2 lack is found another way: each way gives what the newer one gives.

Recorded once in whole with torch 2.1.2 by hand: the examples and the shared cases print what plain Python prints.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gradviz.worker import engine, saved, walk
from gradviz.worker.saved import SavedReader


def test_the_node_of_a_leaf_without_gradient_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = torch.ones(3, requires_grad=True)
    wanted = walk.node_of(leaf)
    monkeypatch.delattr(torch.autograd.graph, "get_gradient_edge")
    with torch.no_grad():
        found = walk.node_of(leaf)
    assert found == wanted and found[0].variable is leaf


def test_saved_tensors_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "_READABLE", False)
    x = torch.ones(3, requires_grad=True)
    entries, small = SavedReader().read((x * x).grad_fn)
    assert [(name, text) for name, _, text in entries] == [
        ("other", "not readable in this torch"),
        ("self", "not readable in this torch"),
    ]
    assert small == []


@pytest.mark.parametrize("has_a_function", [True, False])
def test_torch_itself_comes_through_the_engine_where_there_is_nothing_between(
    monkeypatch: pytest.MonkeyPatch, has_a_function: bool
) -> None:
    monkeypatch.setattr(engine, "_TORCH_HAS_A_FUNCTION", has_a_function)
    real = object()
    listener: Any = None

    class Variable:
        attribute = engine.EngineAttribute(listener, real)

    read = compile("found = Variable.attribute", torch.__file__, "exec")
    names: dict[str, Any] = {"Variable": Variable}
    exec(read, names)
    assert (names["found"] is real) == has_a_function
    assert isinstance(Variable.attribute, engine.EngineProxy)  # a script always gets the recording one
