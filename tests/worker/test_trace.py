"""Where nodes were made: lines, iterations, names and modules counted by hand; the script itself is not changed."""

from __future__ import annotations

import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from gradviz.worker.frames import STACK_LIMIT
from gradviz.worker.intervals import LIMIT, Intervals
from gradviz.worker.threads import SettraceWatch
from tests.worker.tracing import WATCHES, traced

watches = pytest.mark.parametrize("watch", WATCHES)

LINES = """\
import torch
x = torch.ones(3, requires_grad=True)
def halves(n):
    for i in range(n):
        y = x * i
        yield y
s = 0
for v in halves(2):
    s = s + v
def down(n, z):
    if n == 0:
        return z * 2
    return down(n - 1, z + 1)
r = down(2, x)
def fails():
    w = x * 7
    raise ValueError
for k in range(2):
    try:
        fails()
    except ValueError:
        u = x * 3
m = (x
   + 1
   ) * x
for i in range(3): q = x * i
outs = []
outs.append(x - 1)
class Box: pass
self = Box()
self.h = x * 9
ws = [0, 0]
for i in range(2):
    ws[i] = x / 2
a, (b, c) = x * 1, (x * 2, x * 3)
n = (x * 4).sum().item()
def late():
    k = x * 2
    def inner():
        nonlocal k
        k = k * 3
    inner()
    return k
o = late()
o = o.detach()
"""

WANTED = [
    (5, "halves", 1, "y"),
    (9, "<module>", 1, "s"),
    (5, "halves", 2, "y"),
    (9, "<module>", 2, "s"),
    (13, "down", 1, None),
    (13, "down", 2, None),
    (12, "down", 1, "r"),
    (16, "fails", 1, "w"),
    (22, "<module>", 1, "u"),
    (16, "fails", 2, "w"),
    (22, "<module>", 2, "u"),
    (23, "<module>", 1, None),
    (23, "<module>", 1, "m"),
    (26, "<module>", 1, "q"),
    (26, "<module>", 2, "q"),
    (26, "<module>", 3, "q"),
    (28, "<module>", 1, "outs[0]"),
    (31, "<module>", 1, "self.h"),
    (34, "<module>", 1, "ws[0]"),
    (34, "<module>", 2, "ws[1]"),
    (35, "<module>", 1, "a"),
    (35, "<module>", 1, "b"),
    (35, "<module>", 1, "c"),
    (36, "<module>", 1, None),
    (36, "<module>", 1, None),
    (38, "late", 1, "k"),
    (41, "late.<locals>.inner", 1, "k"),
]


@watches
def test_lines_iterations_and_names(watch: type, tmp_path: Path) -> None:
    assert traced(LINES, tmp_path, watch).rows() == WANTED


@watches
def test_each_turn_of_a_comprehension_counts(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        w = torch.ones(1, requires_grad=True)
        q, k, v = ((w * n) for n in (1, 2, 3))
        listed = [w * n for n in (1, 2, 3)]
        def several():
            for n in (1, 2):
                x = w * n
                yield x * x
            yield w + 1
        for made in several(): pass
        one, other = (w * n for n in (1, 2)), (w * n for n in (1, 2))
        next(one), next(other), next(one), next(other)
        """,
        tmp_path,
        watch,
    )
    turns = [(site.place.line, site.iteration) for site in found.sites if site is not None]
    assert turns == [
        *((3, turn) for turn in (1, 2, 3)),
        *((4, turn) for turn in (1, 2, 3)),
        *((line, turn) for turn in (1, 2) for line in (7, 8)),
        (9, 1),
        *((11, turn) for turn in (1, 1, 2, 2)),
    ]


@watches
def test_stacks_hold_the_users_frames_only(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        def inner(x):
            return x * 2
        class Net(torch.nn.Module):
            def forward(self, x):
                return inner(x)
        y = Net()(torch.ones(1, requires_grad=True))
        """,
        tmp_path,
        watch,
    )
    (site,) = found.sites
    assert site is not None
    own = [(place.line, place.function) for place in site.stack if place.file.endswith("script.py")]
    assert own == [(3, "inner"), (6, "Net.forward"), (7, "<module>")]
    assert not any("/torch/" in place.file for place in site.stack)


@watches
def test_a_recursion_gives_each_node_a_stack_of_bounded_length(watch: type, tmp_path: Path) -> None:
    """A node in each of 61 frames, innermost first: with all frames of each a deep recursion took minutes."""
    found = traced(
        """\
        import torch
        def nest(n, x):
            if n == 0:
                return x * 1
            return nest(n - 1, x) * 2
        y = nest(60, torch.ones(1, requires_grad=True))
        """,
        tmp_path,
        watch,
    )
    stacks = [[place.line for place in site.stack if place.file.endswith("script.py")] for site in found.sites if site]
    assert len(stacks) == 61 and max(map(len, stacks)) == STACK_LIMIT
    assert [5, 6] in stacks and [5, 5, 6] in stacks  # the outermost nodes have their whole stack
    assert [4, *[5] * (STACK_LIMIT - 1)] in stacks


NETWORK = """\
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.extra = [nn.Linear(3, 3)]
    def forward(self, x):
        return torch.relu(self.extra[0](self.fc(x))) + x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.again = self.blocks[0]
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.again(x) * 2
model = Net()
value = model(torch.ones(2, 3)).sum()
error = nn.MSELoss()(value, torch.zeros(()))
"""


@watches
def test_modules_by_path_and_class(watch: type, tmp_path: Path) -> None:
    sites = [site for site in traced(NETWORK, tmp_path, watch).sites if site is not None]
    paths = list(dict.fromkeys((site.module, site.module_class) for site in sites))
    assert paths == [
        ("model.blocks.0.fc", "Linear"),
        ("model.blocks.0.Linear", "Linear"),
        ("model.blocks.0", "Block"),
        ("model.blocks.1.fc", "Linear"),
        ("model.blocks.1.Linear", "Linear"),
        ("model.blocks.1", "Block"),
        ("model", "Net"),
        (None, None),
        (None, "MSELoss"),
    ]


def test_a_module_that_raised_is_not_running_any_more(tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(3, 3))
        try:
            net(torch.ones(1, 2))
        except RuntimeError:
            y = torch.ones(1, requires_grad=True) * 2
        """,
        tmp_path,
    )
    last = found.sites[-1]
    assert last is not None
    assert (last.place.line, last.module, last.module_class, last.name) == (6, None, None, "y")


def test_no_line_rather_than_a_wrong_one_while_another_tracer_is_set(tmp_path: Path) -> None:
    """With `sys.settrace` there is room for one; the user's has it from line 5 on."""
    found = traced(
        """\
        import sys, torch
        x = torch.ones(2, requires_grad=True)
        before = x * 2
        def other(frame, event, arg): return None
        sys.settrace(other)
        during = x * 3
        def work(): return x * 4
        during = work()
        sys.settrace(None)
        after = x * 5
        """,
        tmp_path,
        SettraceWatch,
    )
    lines = [None if site is None else site.place.line for site in found.sites]
    assert lines == [3, None, None, None]


@watches
def test_threads_have_lines_of_their_own(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import threading, torch
        x = torch.ones(2, requires_grad=True)
        got = []
        def work(k):
            y = x * k
            z = y + k
            got.append(z.grad_fn._sequence_nr())
        for k in range(3):
            thread = threading.Thread(target=work, args=(k,))
            thread.start()
            thread.join()
        mine = x * 2
        """,
        tmp_path,
        watch,
    )
    # Sequence numbers count per thread, so the same ones were given three times.
    assert len(set(found.space["got"])) == 1
    assert found.rows() == [(12, "<module>", 1, "mine")]


@watches
def test_variables_live_no_longer_than_without_us(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch, weakref
        alive = []
        def work():
            x = torch.ones(3, requires_grad=True)
            taken = locals()
            y = x * 2
            seen = weakref.ref(y)
            del y
            alive.append(seen() is not None)
            z = x * 3
            seen = weakref.ref(z)
            z = None
            alive.append(seen() is not None)
            return sorted(taken), weakref.ref(x)
        names, gone = work()
        """,
        tmp_path,
        watch,
    )
    assert found.space["alive"] == [False, False]
    assert found.space["names"] == ["x"]
    del found.space["work"]
    gone: weakref.ref[torch.Tensor] = found.space["gone"]
    assert gone() is None


COMPILED = """\
import torch
@torch.compile(backend="eager", fullgraph=True)
def fast(x, w):
    h = x @ w
    for _ in range(3):
        h = torch.relu(h) * 2
    return h.sum()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)
    def forward(self, x):
        return self.fc(x).sum()
net = torch.compile(Net(), backend="eager", fullgraph=True)
w = torch.eye(3, requires_grad=True)
fast(torch.ones(2, 3), w).backward()
net(torch.ones(2, 3)).backward()
import torch._dynamo
counts = {key: dict(value) for key, value in torch._dynamo.utils.counters.items()}
"""


@watches
def test_torch_compile_sees_nothing_of_us(watch: type, tmp_path: Path) -> None:
    plain: dict[str, Any] = {}
    for run in (lambda: exec(COMPILED, plain), lambda: None):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        run()
    found = traced(COMPILED, tmp_path, watch)
    assert found.space["counts"] == plain["counts"]
    assert plain["counts"]["stats"]["unique_graphs"] == 2
    assert not plain["counts"].get("graph_break")
    assert found.space["w"].grad.tolist() == [[16.0] * 3] * 3


@watches
def test_results_are_equal_to_the_bit(watch: type, tmp_path: Path) -> None:
    text = """\
    import torch
    torch.manual_seed(3)
    encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
    x = torch.randn(3, 5, 16)
    encoder.eval()
    with torch.no_grad():
        fast = encoder(x)
    encoder.train()
    loss = encoder(x).pow(2).mean()
    loss.backward()
    optimizer = torch.optim.Adam(encoder.parameters())
    optimizer.step()
    result = torch.cat([p.detach().flatten() for p in encoder.parameters()])
    """
    import textwrap

    plain: dict[str, torch.Tensor] = {}
    exec(textwrap.dedent(text), plain)
    seen = traced(text, tmp_path, watch).space
    for name in ("fast", "loss", "result"):
        assert torch.equal(plain[name], seen[name]), name


@watches
def test_swapping_tensors_is_not_in_the_way_after_detach_nothing_is_left(watch: type, tmp_path: Path) -> None:
    found = traced("import torch\nw = torch.ones(2, requires_grad=True)\ny = w * 2\ny = y + 1\n", tmp_path, watch)
    assert sys.gettrace() is None
    assert threading._trace_hook is None  # type: ignore[attr-defined]
    assert sys._getframe().f_trace is None
    for name in ("w", "y"):
        assert weakref.getweakrefcount(found.space[name]) == 0
    torch.utils.swap_tensors(found.space["w"], torch.zeros(2))
    assert found.space["w"].tolist() == [0.0, 0.0]


def test_old_intervals_are_forgotten_first() -> None:
    intervals = Intervals()
    for number in range(LIMIT + 10):
        intervals.add(2 * number, 2 * number + 1, number % 7 + 1, 1)
        intervals.name(2 * number, number % 5 + 1)
    last = LIMIT + 9
    assert intervals.find(2 * last) == (last % 7 + 1, 1, last % 5 + 1)
    assert intervals.find(2 * last + 1) is None
    assert intervals.find(0) is None


def test_the_first_name_stays() -> None:
    intervals = Intervals()
    intervals.add(10, 13, 4, 2)
    intervals.name(11, 1)
    intervals.name(11, 2)
    intervals.name(12, 3)
    intervals.name(99, 5)
    assert [intervals.find(number) for number in (9, 10, 11, 12, 13)] == [None, (4, 2, 0), (4, 2, 1), (4, 2, 3), None]


SUBCLASS = """\
import torch
class Logged(torch.Tensor):
    seen = []
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.seen.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})
x = torch.ones(3).as_subclass(Logged).requires_grad_(True)
y = x * 2
class Block:
    def __init__(self):
        self.w = y + 1
block = Block()
z = block.w.sum()
"""


@watches
def test_tensors_of_a_class_that_sees_each_operation(watch: type, tmp_path: Path) -> None:
    """Lines and names are those of the program; the class sees what it sees without us."""
    found = traced(SUBCLASS, tmp_path, watch)
    plain: dict[str, Any] = {"__name__": "__main__"}
    exec(SUBCLASS, plain)
    assert found.space["Logged"].seen == plain["Logged"].seen
    rows = found.rows()
    assert {row[0] for row in rows if row is not None} == {9, 12, 14}
    names = {site.name: site.place.line for site in found.sites if site is not None and site.name is not None}
    assert names == {"y": 9, "self.w": 12, "z": 14}
    bound = {(binding.name, binding.place.line, binding.requires_grad) for binding in found.bindings}
    assert {("x", 8, True), ("y", 9, True), ("z", 14, True)} <= bound
