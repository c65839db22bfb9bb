"""What names held after which line: counted by hand, on the situations that later explanations are about."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gradviz.model import Binding
from gradviz.worker import observe
from gradviz.worker.lines import MOST_ITEMS
from gradviz.worker.threads import SettraceWatch
from gradviz.worker.trace import Tracer
from gradviz.worker.userfiles import UserFiles
from tests.worker.tracing import WATCHES, traced

watches = pytest.mark.parametrize("watch", WATCHES)


def of(bindings: list[Binding], name: str) -> list[Binding]:
    return sorted((b for b in bindings if b.name == name), key=lambda b: b.order)


@watches
def test_the_line_that_cut_the_graph(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        w = torch.ones(2, requires_grad=True)
        y = w * 2
        y = y.detach()
        z = y.sum()
        """,
        tmp_path,
        watch,
    ).bindings
    assert [(b.place.line, b.requires_grad, b.is_leaf, b.op) for b in of(found, "y")] == [
        (3, True, False, "MulBackward0"),
        (4, False, True, None),
    ]
    first, second = of(found, "y")
    assert first.tensor != second.tensor
    assert first.storage == second.storage
    assert [(b.requires_grad, b.shape, b.dtype) for b in of(found, "z")] == [(False, (), "float32")]


@watches
def test_the_line_that_wrote_in_place(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        class Layer:
            def __init__(self):
                self.w = torch.ones(3)
            def shrink(self):
                self.w.mul_(0.5)
        def write(target):
            target[0] = 7
        a = torch.zeros(3)
        b = a
        a += 1
        write(a)
        print(a.sum() * 0)
        view = a[1:]
        view.zero_()
        layer = Layer()
        layer.shrink()
        torch.add(a, 1, out=b)
        """,
        tmp_path,
        watch,
    ).bindings
    written = [(b.place.line, b.name, b.version) for b in sorted(found, key=lambda b: b.order) if b.cause == "written"]
    assert written == [
        (11, "a", 1),
        (8, "target", 2),
        (15, "view", 3),
        (6, "self.w", 1),
        (18, "a", 4),
    ]
    memory = {b.storage for b in found if b.name in ("a", "b", "target", "view")}
    assert len(memory) == 1
    assert len({b.tensor for b in found if b.name in ("a", "b", "target")}) == 1


@watches
def test_a_parameter_that_was_made_anew_in_a_loop(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        w = torch.ones(2, requires_grad=True)
        for step in range(100):
            loss = (w * w).sum()
            w = w - 0.1 * torch.ones(2)
        """,
        tmp_path,
        watch,
    ).bindings
    first, last = of(found, "w")[1:]
    assert [(b.place.line, b.is_leaf, b.requires_grad, b.op, b.count) for b in (first, last)] == [
        (5, False, True, "SubBackward0", 100),
        (5, False, True, "SubBackward0", 100),
    ]
    assert first.tensor != last.tensor
    assert len(of(found, "loss")) == 2
    assert len(found) == 5


@watches
def test_arguments_and_results_of_functions(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        def scale(x, by, *, extra=None):
            return x * by
        a = torch.ones(2, requires_grad=True)
        b = scale(a, 3, extra=torch.zeros(1))
        """,
        tmp_path,
        watch,
    ).bindings
    assert [(b.place.line, b.place.function, b.name, b.cause) for b in sorted(found, key=lambda b: b.order)] == [
        (4, "<module>", "a", "assigned"),
        (2, "scale", "x", "argument"),
        (2, "scale", "extra", "argument"),
        (3, "scale", "scale", "returned"),
        (5, "<module>", "b", "assigned"),
    ]
    assert of(found, "x")[0].tensor == of(found, "a")[0].tensor
    assert of(found, "b")[0].tensor == of(found, "scale")[0].tensor


def run(tracer: Tracer, text: str, space: dict[str, Any], file: Path) -> None:
    exec(compile(textwrap.dedent(text), str(file), "exec"), space)


def test_bindings_are_told_before_their_call_and_seldom_in_long_loops(tmp_path: Path) -> None:
    tracer = Tracer(UserFiles(str(tmp_path)))
    space: dict[str, Any] = {"torch": torch}
    told: list[Binding] = []
    tracer.attach()
    try:
        run(tracer, "w = torch.ones(2, requires_grad=True)\n", space, tmp_path / "a.py")
        code = compile("y = w * 2\n", str(tmp_path / "b.py"), "exec")
        for call in range(1, 2001):
            exec(code, space)
            tracer.settle(call)
            told += tracer.drain_bindings(lambda sequence, tensor: None)
    finally:
        tracer.detach()
    told += tracer.drain_bindings(lambda sequence, tensor: None, final=True)
    assert [(b.before_call, b.count) for b in of(told, "w")] == [(1, 1)]
    counts = [(b.before_call, b.count) for b in of(told, "y")]
    assert counts[0] == (1, 1)
    assert counts[-1] == (2000, 2000)
    assert len(counts) < 16
    assert counts == sorted(counts)


def test_the_log_does_not_grow_with_the_steps(tmp_path: Path) -> None:
    """100,000 steps leave as many entries as 100 do."""
    import tracemalloc

    tracer = Tracer(UserFiles(str(tmp_path)))
    space: dict[str, Any] = {"torch": torch, "w": torch.ones(2)}
    code = compile("for _ in range(n):\n    y = w * 2\n    y += 1\n    z = y.sum()\n", str(tmp_path / "a.py"), "exec")
    sizes = []
    tracer.attach()
    try:
        for steps in (2_000, 20_000):
            space["n"] = steps
            tracemalloc.start()
            exec(code, space)
            sizes.append(tracemalloc.get_traced_memory()[0])
            tracemalloc.stop()
    finally:
        tracer.detach()
    assert sizes[1] < sizes[0] + 200_000


NAMED = """\
import sys, collections, torch
touched = []
Pair = collections.namedtuple("Pair", "left right")
class Thing:
    def __init__(self):
        self.w = torch.ones(1)
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.BatchNorm1d(2)))
        self.pairs = [Pair(torch.ones(1), torch.ones(2))]
    @property
    def computed(self):
        touched.append("property")
        return torch.ones(1)
    def __getattr__(self, name):
        touched.append(name)
        raise AttributeError(name)
    def look(self, local):
        shadow = local
        hidden = {"a": torch.ones(1), 3: torch.ones(1)}
        return names(sys._getframe(), self, hidden)
def names(frame, thing, hidden):
    found = look_up(frame)
    wanted = [thing.w, thing.net[0].weight, thing.net[1][0].running_mean, thing.pairs[0].right, hidden["a"],
              hidden[3], everywhere, ws[1], torch.ones(1)]
    return [found.of(tensor) for tensor in wanted]
everywhere = torch.ones(1)
ws = [torch.ones(1), torch.ones(1)]
thing = Thing()
touched.clear()
result = thing.look(everywhere)
"""


def test_names_lead_to_the_very_tensor(tmp_path: Path) -> None:
    from gradviz.worker.names import names_at

    files = UserFiles(str(tmp_path))
    space: dict[str, Any] = {"__name__": "names", "look_up": lambda frame: names_at(frame, files)}
    exec(compile(NAMED, str(tmp_path / "names.py"), "exec"), space)
    assert space["touched"] == []
    assert space["result"] == [
        "self.w",
        "self.net.0.weight",
        "self.net.1.0.running_mean",
        "self.pairs[0].right",
        "hidden['a']",
        "hidden[3]",
        "local",
        "ws[1]",
        None,
    ]


BEST = """\
import collections
import torch
from torch import nn
words = ["a word"] * 30_000
rows = [[1, 2, 3] for _ in range(30_000)]
class Slotted:
    __slots__ = ("w", "unset")
class Deep:
    pass
model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1)))
layers = [nn.Linear(1, 1), nn.Linear(1, 1)]
ws = [torch.ones(1, requires_grad=True) for _ in range(3)]
table = collections.OrderedDict(first=torch.ones(1))
slotted = Slotted()
slotted.w = torch.ones(1)
deep = Deep()
deep.a = Deep()
deep.a.net = [nn.Linear(1, 1)]
params = list(model.parameters())
def look(chosen):
    for p in model.parameters():
        pass
    for i, (w, layer) in enumerate(zip(ws, layers)):
        pass
    for x in ws:
        x = x * 2
    weights = [model[0].weight]
    return names(chosen, p, w, layer)
def names(chosen, p, w, layer):
    found = look_up()
    wanted = [p, w, model[0].weight, layer.weight, table["first"], slotted.w, deep.a.net[0].bias, chosen]
    return [found.of(tensor) for tensor in wanted]
result = look(ws[0])
"""


def test_of_several_names_the_one_that_stays(tmp_path: Path) -> None:
    """A loop's variable is no name for a parameter; large lists of other things do not hide what lies behind them."""
    import sys

    from gradviz.worker.names import names_at

    files = UserFiles(str(tmp_path))
    space: dict[str, Any] = {"__name__": "names"}
    space["look_up"] = lambda: names_at(sys._getframe(2), files)
    exec(compile(BEST, str(tmp_path / "names.py"), "exec"), space)
    assert space["result"] == [
        "model.1.0.bias",
        "ws[1]",
        "model.0.weight",
        "layers[1].weight",
        "table['first']",
        "slotted.w",
        "deep.a.net[0].bias",
        "chosen",
    ]


CALLED = """\
import torch
losses = [torch.ones(1, requires_grad=True) * k for k in (2, 3)]
for loss in losses:
    loss.backward()
u = v = losses[0] * 5
(u,
 v)[1].backward()
v.backward()
def step(objective):
    objective.backward()
step(v * 2)
"""


def test_roots_are_called_as_the_line_calls_them(tmp_path: Path) -> None:
    from tests.worker.inspecting import record

    path = tmp_path / "called.py"
    path.write_text(CALLED.replace("losses[0] * 5", "torch.ones(1, requires_grad=True) * 5"))
    code = compile(path.read_text(), str(path), "exec")
    with record(tmp_path, complete=False) as found, pytest.raises(RuntimeError, match="second time"):
        exec(code, {"__name__": "__main__"})
    assert [call.roots[0].name for call in found.calls] == ["loss", "loss", "v", "v"]


@watches
def test_items_beyond_the_first_ones_share_a_binding(watch: type, tmp_path: Path) -> None:
    found = traced(
        """\
        import torch
        w = torch.ones(2, requires_grad=True)
        hs = []
        for i in range(500):
            hs.append(w * i)
        """,
        tmp_path,
        watch,
    ).bindings
    items = sorted((b for b in found if b.name.startswith("hs[")), key=lambda b: b.order)
    assert [b.name for b in items] == [*(f"hs[{i}]" for i in range(MOST_ITEMS + 1)), "hs[499]"]
    assert {b.place.line for b in items} == {5}
    assert [b.count for b in items] == [1] * MOST_ITEMS + [500 - MOST_ITEMS] * 2
    assert items[-1].shape == (2,)
    assert items[-1].op == "MulBackward0"


EVERYTHING = """\
import torch
from torch import nn
w = torch.ones(3, requires_grad=True)
kept = []
def many(count):
    total = torch.zeros(3)
    for i in range(count):
        x = w * i
        total = total + x
        total += max(x, total, key=torch.numel)
        part = total[:2]
        part = part * 2
        late = None if i % 2 else part
        with torch.inference_mode():
            made = torch.ones(2) * i
            made = made.add_(1)
        held = nn.Parameter(torch.ones(1))
        held = abs(held)
        del x
        x, (y, *z) = part, (total, part, 3)
    kept.append(total)
    return x.sum() + y.sum()
def shared(count):
    total = torch.zeros(3)
    def add(value):
        nonlocal total
        total = total + value
        return total
    return [add(w * i) for i in range(count)]
def deep(x, depth):
    x = x * 2
    if depth:
        y = deep(x, depth - 1)
        x = y.mul_(3)
    return x
def lazily(count):
    for i in range(count):
        item = w * i
        yield item
        item = item + 1
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain, self.past = nn.Parameter(torch.ones(3)), []
    def forward(self, x):
        self.last = x * self.gain
        self.past.append(self.last)
        return self.last
cell = Cell()
for round in range(3):
    many(30), shared(25), deep(w, 20), [item.sum() for item in lazily(25)]
    for t in range(70):
        out = cell(w * t)
"""


def test_the_quick_way_for_plain_variables_tells_what_the_one_for_all_others_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = traced(EVERYTHING, tmp_path, SettraceWatch)
    monkeypatch.setattr(observe, "KEPT", False)  # no variables are kept with a function: none can be read quickly
    others = traced(EVERYTHING, tmp_path, SettraceWatch)
    assert quick.rows() == others.rows()
    assert [replace(b, node=None) for b in quick.bindings] == [replace(b, node=None) for b in others.bindings]
    assert {b.cause for b in quick.bindings} == {"assigned", "argument", "returned", "written"}
    assert max(b.count for b in quick.bindings) == 210
