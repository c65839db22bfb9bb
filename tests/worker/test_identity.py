"""A node has one id in all calls, whether each node carries its own number or the lowest ones carry those of all."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from gradviz.worker.trace import Tracer
from tests.worker.inspecting import Recorded, record


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads of the test's runner are not there."""
    monkeypatch.setattr(Tracer, "is_alone", lambda self: len(self._threads) <= 1)


def ids(found: Recorded, label: str) -> list[tuple[int, str]]:
    return [(node.id, node.op) for node in found.graph(label).nodes]


def at_random(seed: int) -> None:
    """Backwards through graphs that share nodes, kept or freed, some of second order, some hooked, some that fail."""
    chosen = random.Random(seed)
    leaves = [torch.full((2,), float(k + 1), requires_grad=True) for k in range(3)]
    pool = [leaf * 2 for leaf in leaves]
    for _ in range(30):
        try:
            _step(chosen, leaves, pool)
        except RuntimeError as error:
            assert "second time" in str(error), error
            pool = [leaf * 2 for leaf in leaves]


def _step(chosen: random.Random, leaves: list[torch.Tensor], pool: list[torch.Tensor]) -> None:
    a, b = chosen.choice(pool), chosen.choice(pool + leaves)
    kind = chosen.randrange(9)
    if kind < 4:
        pool.append([a + b, a * b, a.exp(), torch.cat([a, b])[1:3]][kind])
    elif kind == 4:
        (gradient, *_) = torch.autograd.grad(a.sum(), leaves, create_graph=True, allow_unused=True)
        pool.append(a if gradient is None or not gradient.requires_grad else gradient)
    elif kind == 5 and chosen.random() < 0.3:
        a.register_hook(lambda grad: None)
    else:
        (a.sum() * b.sum()).backward(retain_graph=chosen.random() < 0.4)


@pytest.mark.parametrize("seed", range(8))
def test_both_ways_give_the_same_ids(seed: int, alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with record(tmp_path, complete=False) as first:
        at_random(seed)
    monkeypatch.setattr(Tracer, "is_alone", lambda self: False)
    with record(tmp_path, complete=False) as second:
        at_random(seed)
    assert len(first.calls) > 5
    for call in first.calls:
        assert ids(first, call.label) == ids(second, call.label)


def test_a_freed_graph_that_is_walked_again(alone: None, tmp_path: Path) -> None:
    w = torch.ones(3, requires_grad=True)
    with record(tmp_path) as found:
        y = (w + 1).sum()  # saves nothing, so it can be freed and used again
        y.backward()
        y.backward()
        (y + 2).backward()
    assert ids(found, "1") == ids(found, "2") == [(0, "SumBackward0"), (1, "AddBackward0"), (2, "AccumulateGrad")]
    assert ids(found, "3") == [(3, "AddBackward0"), *ids(found, "1")]


def test_two_heads_on_a_trunk_that_was_freed(alone: None, tmp_path: Path) -> None:
    w = torch.ones(3, requires_grad=True)
    with record(tmp_path, complete=False) as found:
        trunk = w.exp()
        (trunk * 2).sum().backward()
        with pytest.raises(RuntimeError, match="second time"):
            (trunk * 3).sum().backward()
    shared = [(number, op) for number, op in ids(found, "2") if op in ("ExpBackward0", "AccumulateGrad")]
    assert shared == [pair for pair in ids(found, "1") if pair[1] in ("ExpBackward0", "AccumulateGrad")]
    assert len(shared) == 2


def test_nodes_of_another_thread_are_other_nodes(alone: None, tmp_path: Path) -> None:
    """Sequence numbers count per thread: where there are two they do not tell nodes."""
    w = torch.ones(3, requires_grad=True)
    with record(tmp_path) as found:
        trunk = w + 1
        trunk.sum().backward()

        def head() -> None:
            (trunk + 5).sum().backward()

        thread = threading.Thread(target=head)
        thread.start()
        thread.join()
    numbers = [number for number, _ in ids(found, "2")]
    assert len(set(numbers)) == len(numbers) == 4
    ops = dict(ids(found, "1"))
    assert all(ops.get(number, op) == op for number, op in ids(found, "2"))


def test_a_walk_that_is_cut_meets_nodes_of_a_freed_graph(alone: None, tmp_path: Path) -> None:
    w = torch.tensor(1.0, requires_grad=True)
    with record(tmp_path, complete=False, max_nodes=10) as found:
        x = w
        for _ in range(6):
            x = x + 1
        x.backward()
        for _ in range(6):
            x = x + 1
        x.backward()
    numbers = [number for number, _ in ids(found, "2")]
    assert numbers[6:] == [number for number, _ in ids(found, "1")][: len(numbers) - 6]


def test_an_error_node_on_a_freed_graph(alone: None, tmp_path: Path) -> None:
    w = torch.ones(3, requires_grad=True)
    broken: Any = torch._C._functions.DelayedError("no way", 1)  # type: ignore[attr-defined]
    with record(tmp_path, complete=False) as found:
        x = w + 1
        x.sum().backward()
        end = (broken(x) + x).sum()
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no way"):
                end.backward()
    first, second, third = (dict(ids(found, label)) for label in "123")
    assert second == third
    assert len(second) == 5
    assert [number for number in second if number in first] == [1, 2]  # x and the leaf


def test_numbers_of_threads_that_nobody_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread of torch's own counts anew: a node that one has made may have a number that is taken."""
    monkeypatch.setattr(Tracer, "is_alone", lambda self: True)
    w = torch.ones(3, requires_grad=True)
    made: list[torch.Tensor] = []

    def elsewhere() -> None:
        while torch._C._autograd._get_sequence_nr() < number:  # type: ignore[attr-defined]
            w.exp()
        made.append(trunk + 5)

    with record(tmp_path) as found:
        below = w + 1
        number = below.grad_fn._sequence_nr()  # type: ignore[union-attr]
        trunk = below + 1
        trunk.sum().backward()
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        end = made[0].sum()
        end.backward()
        (end + 1).backward()
    numbers = [number for number, _ in ids(found, "2")]
    assert len(set(numbers)) == len(numbers) == 5
    assert ids(found, "3")[1:] == ids(found, "2")
