"""How much is recorded: limits of the user's, and the default that keeps a long run small."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

import gradviz
from gradviz.errors import UsageError
from gradviz.protocol import parse_calls
from gradviz.worker.budget import Budget, Options, is_in_series
from gradviz.worker.calls import Active
from gradviz.worker.gathered import Gathered
from gradviz.worker.hooks import Hooks
from gradviz.worker.tasks import Task
from gradviz.worker.walk import Walk
from tests.worker.inspecting import record, values


def test_calls_are_read() -> None:
    assert parse_calls("1,5, 10-20") == (range(1, 2), range(5, 6), range(10, 21))
    for text in ("", "1,,2", "a", "3-", "1 2", "-4", "0", "0-3", "5-2"):
        with pytest.raises(UsageError):
            parse_calls(text)


def test_the_series() -> None:
    assert [n for n in range(1, 3000) if is_in_series(n)] == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]


def test_full_calls_then_summaries_then_fewer() -> None:
    size = 0
    budget = Budget(Options(), lambda: size)
    details = {}
    for ordinal in range(1, 20_001):
        details[ordinal] = budget.detail(ordinal)
        size += {"full": 100_000, "summary": 5_000, "none": 400, None: 0}[details[ordinal]]
    assert all(details[n] == "full" for n in range(1, 65)) and details[65] == "summary"
    assert [n for n in range(65, 20_001) if details[n] == "full"] == [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000]
    assert size < 200_000_000
    kept = [n for n in range(65, 20_001) if details[n] == "summary"]
    assert kept[1] - kept[0] == 1 and max(b - a for a, b in itertools.pairwise(kept)) <= 16
    assert kept[-1] > 19_000


def test_large_calls_end_early() -> None:
    size = 0
    budget = Budget(Options(), lambda: size)
    details = []
    for ordinal in range(1, 40):
        details.append(budget.detail(ordinal))
        size += 30_000_000 if details[-1] == "full" else 1_000_000
    assert details.count("full") == 4 and details[4] == "summary"


def test_max_calls_and_size_limit() -> None:
    budget = Budget(Options(max_calls=2), lambda: 0)
    assert [budget.detail(n) for n in (1, 2, 3, 4)] == ["full", "full", None, None] and budget.skipped == 2
    size = 0
    budget = Budget(Options(size_limit=1000), lambda: size)
    assert budget.detail(1) == "full"
    size = 600
    assert budget.detail(2) == "summary"
    size = 1000
    assert budget.detail(3) is None and budget.skipped == 1


def test_chosen_calls(tmp_path: Path) -> None:
    x = torch.ones(2, requires_grad=True)
    notes = ("2 more calls were not recorded: the limit was reached.",)
    with record(tmp_path, notes=notes, calls=(range(2, 3), range(4, 5))) as found:
        for _ in range(6):
            (x * 2).sum().backward()
    assert [(call.label, call.detail) for call in found.calls] == [
        ("1", "none"),
        ("2", "full"),
        ("3", "none"),
        ("4", "full"),
    ]
    assert values(found.accumulation("x", "4").after) == [8.0, 8.0]
    assert found.detail("1").accumulations == () and found.graph("1").nodes == ()


def test_past_the_limit_nothing_is_left_of_us(tmp_path: Path) -> None:
    x = torch.ones(2, requires_grad=True)
    functions = torch.nn.Module.zero_grad, torch.nn.utils.clip_grad_norm_
    with record(tmp_path, max_calls=1, notes=("2 more calls were not recorded: the limit was reached.",)) as found:
        for _ in range(3):
            y = (x * 2).sum()
            y.backward()
        assert sys.gettrace() is None
        assert torch.Tensor.retain_grad is torch._C.TensorBase.retain_grad
        assert (torch.nn.Module.zero_grad, torch.nn.utils.clip_grad_norm_) == functions
    assert [call.label for call in found.calls] == ["1"]


def test_summaries_have_the_curves(tmp_path: Path) -> None:
    w, b = torch.randn(40, 40, requires_grad=True), torch.zeros(1, requires_grad=True)
    wanted = []
    with record(tmp_path) as found:
        for step in range(80):
            w.grad = b.grad = None
            loss = (w * (step + 1)).square().mean() + b.sum() * step
            loss.backward()
            wanted.append((loss.item(), w.grad.double().norm().item(), b.grad.item()))
    assert [call.detail for call in found.calls] == ["full"] * 64 + ["summary"] * 16
    for call, (loss, norm, grad) in zip(found.calls, wanted, strict=True):
        assert values(call.roots[0].value) == pytest.approx(loss)
        big, small = found.accumulation("w", call.label), found.accumulation("b", call.label)
        assert big.after is not None and big.after.norm == pytest.approx(norm, rel=1e-5)
        assert big.left is not None and big.left.norm == pytest.approx(norm, rel=1e-5) and big.before is None
        assert values(small.after) == [grad]
        assert (found.detail(call.label).executions == ()) == (call.detail == "summary")


TRAINING = """
import os, resource, sys, torch, gradviz
from torch import nn
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 20)

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

with gradviz.record(sys.argv[1]):
    for step in range(1, int(sys.argv[2]) + 1):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        if step in (100, 1000):
            print(resident())
print(os.path.getsize(sys.argv[1]))
"""


def test_memory_is_flat(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRAINING, str(tmp_path / "r.gradviz"), "1000"],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    early, late, size = map(int, done.stdout.split())
    assert late <= early * 1.05 and size < 40_000_000


def test_equal_graphs_are_stored_once(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    with record(tmp_path) as found:
        for _ in range(5):
            model(torch.randn(3, 4)).sum().backward()
    keys = [[node.key for node in found.recording.graph(call.number).nodes] for call in found.calls]
    assert all(key == keys[0] for key in keys)
    iterations = [found.graph(label).nodes[0].iteration for label in "12345"]
    assert iterations == [1, 2, 3, 4, 5]
    ids = [node.id for call in found.calls for node in found.recording.graph(call.number).nodes if node.kind != "leaf"]
    assert len(ids) == len(set(ids))


def test_nothing_of_a_call_waits_for_the_collector(tmp_path: Path) -> None:
    """Values, nodes and tensors of a call go when it has ended, as under plain python; cycles had kept all of them."""
    x = torch.ones(100, requires_grad=True)
    leaf = weakref.ref(x)
    ours = (Hooks, Walk, Gathered, Active, Task)
    gc.collect()
    gc.disable()
    try:
        with gradviz.record(str(tmp_path / "r.gradviz")):
            (x * 2).sum().backward()
            left = [type(thing).__name__ for thing in gc.get_objects() if type(thing) in ours]
            del x
            is_gone = leaf() is None
    finally:
        gc.enable()
    assert left == []
    assert is_gone
