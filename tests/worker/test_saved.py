"""What nodes have saved is told as it was given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gradviz.worker import quiet
from gradviz.worker.quiet import started_here
from tests.worker.inspecting import record


@pytest.mark.parametrize(
    ("operation", "name", "text"),
    [
        (lambda x: x.softmax(-1), "dim", "-1"),
        (lambda x: x.sum((-1, -2)), "dim", "(-1, -2)"),
        (lambda x: x[:, -3:-1], "start", "-3"),
        (lambda x: torch.roll(x, -2, 0), "shifts", "(-2,)"),
        (lambda x: x.pow(-2), "exponent", "-2"),
        (lambda x: torch.nn.functional.leaky_relu(x, 0.2), "negative_slope", "0.2"),
        (lambda x: x.cumsum(1), "dim", "1"),
    ],
)
def test_numbers_keep_their_sign(
    operation: Callable[[torch.Tensor], torch.Tensor], name: str, text: str, tmp_path: Path
) -> None:
    x = torch.ones(3, 4, requires_grad=True)
    with record(tmp_path) as found:
        y = operation(x)
        y.backward(torch.ones_like(y))
    root = next(node for node in found.graph().nodes if node.id == found.calls[0].roots[0].node)
    assert {saved.name: saved.text for saved in root.saved}[name] == text


def test_a_ragged_tensor_is_kept_without_its_sizes(tmp_path: Path) -> None:
    """One of its sizes is a symbol; written as it was, it ended the script with an error of ours."""
    a = torch.ones(2, 3, requires_grad=True)
    with record(tmp_path) as found:
        torch.nested.as_nested_tensor([a, a[:1]], layout=torch.jagged).pow(2).values().sum().backward()
    assert a.grad is not None and a.grad.tolist() == [[4.0, 4.0, 4.0], [2.0, 2.0, 2.0]]
    assert [(call.complete, call.engine) for call in found.calls] == [(True, True)]


@pytest.mark.parametrize(
    ("statement", "is_handler"),
    [
        ("import json; json.dumps(object())", False),
        ("import dis; dis.dis(7j)", False),
        ("import os; os.path.join(3)", False),
        ("import ast; ast.literal_eval(3)", False),
        ("import asyncio.runners as r; x = r.Runner(); x._interrupt_count = 1; x._on_sigint(2, None, None)", True),
    ],
)
def test_an_error_of_pythons_library_below_our_code_is_ours(statement: str, is_handler: bool) -> None:
    """The script must not get it; what a handler of the script, or of asyncio, raises there goes on."""
    for file, ours in ((quiet.__file__, not is_handler), ("/home/me/script.py", False)):
        with pytest.raises((TypeError, ValueError, KeyboardInterrupt)) as caught:
            exec(compile(statement, file, "exec"), {})
        trace = caught.value.__traceback__
        assert trace is not None and started_here(caught.value.with_traceback(trace.tb_next)) == ours


def test_what_an_earlier_backward_has_freed_is_not_told_as_none(tmp_path: Path) -> None:
    a = torch.tensor(3.0, requires_grad=True)
    with record(tmp_path) as found:
        b = a * a
        c = a * 2  # never saves `self`
        for root in (b, c):
            root.backward()
            with pytest.raises(RuntimeError, match="second time"):
                root.backward()
    told = [
        {saved.name: saved.text or saved.value is not None for saved in node.saved}
        for call in found.calls
        for node in found.graph(call.label).nodes
        if node.op == "MulBackward0"
    ]
    assert told == [
        {"other": True, "self": True},
        {"other": "freed", "self": "freed"},
        {"other": True, "self": "None"},
        {"other": "freed", "self": "None"},
    ]
