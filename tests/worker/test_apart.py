"""The script must not notice: same bits, same warnings, nothing seen by its modes, nothing left behind."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import gradviz
from gradviz.worker.hooks import Hooks
from gradviz.worker.recorder import Recorder
from tests.benchmarks import networks
from tests.worker.inspecting import record, values


def surroundings() -> dict[str, Any]:
    """Everything that the recorder replaces or switches."""
    owners = [torch, torch.autograd, torch.autograd.graph, torch.autograd.functional, torch.autograd.gradcheck]
    found: dict[str, Any] = {}
    for owner in (*owners, torch.utils, torch.Tensor, torch.nn.Module, torch.optim.Optimizer, torch.autograd.Variable):
        module = sys.modules["torch.autograd.gradcheck"] if owner is torch.autograd.gradcheck else owner
        found.update({f"{module!r}.{name}": value for name, value in vars(module).items() if not name.startswith("__")})
    found["trace"], found["gc"] = sys.gettrace(), gc.isenabled()
    found["threads"], found["thread trace"] = torch.get_num_threads(), threading.gettrace()
    found["limit"], found["showwarning"] = sys.getrecursionlimit(), warnings.showwarning
    found["hooks"] = len(sys.modules["torch.optim.optimizer"]._global_optimizer_pre_hooks)
    return found


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    x = torch.ones(3, requires_grad=True)
    warm = (x * 2).sum()
    warm.backward()
    before = surroundings()
    with record(tmp_path):
        h = x * 2
        h.retain_grad()
        h.register_hook(lambda g: g)
        h.sum().backward()
        torch.autograd.functional.jacobian(lambda t: t * 2, x)
    after = surroundings()
    assert {name for name in before if before[name] is not after.get(name) and before[name] != after.get(name)} == set()
    assert before.keys() == after.keys()
    assert x._backward_hooks is None and x._post_accumulate_grad_hooks is None
    assert weakref.getweakrefcount(h) == 0 or all(ref() is h for ref in weakref.getweakrefs(h))
    assert pickle.loads(pickle.dumps(x.detach())).equal(x.detach()) and copy.deepcopy(x).equal(x)
    torch.save(x, io.BytesIO())


def test_a_failing_block_is_detached_and_readable(tmp_path: Path) -> None:
    before = surroundings()
    path = tmp_path / "r.gradviz"
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(ZeroDivisionError), gradviz.record(path):
        (x * 2).sum().backward()
        _ = 1 / 0
    after = surroundings()
    assert {name for name in before if before[name] is not after.get(name) and before[name] != after.get(name)} == set()
    from gradviz.store.reader import close_recording, open_recording

    found = open_recording(str(path))
    assert [call.label for call in found.calls] == ["1"]
    close_recording(found)


def test_nothing_of_a_call_outlives_it(tmp_path: Path) -> None:
    class Watched(torch.Tensor):
        pass

    with record(tmp_path):
        x = torch.ones(3, requires_grad=True)
        y = (x * 2).as_subclass(Watched)
        y.sum().backward()
        node, tensor = weakref.ref(y), weakref.ref(x)
        del x, y
        gc.collect()
        assert node() is None and tensor() is None


def gpt() -> Iterator[torch.Tensor]:
    model = networks.GPT(layers=2, width=32, heads=4, block=16, vocabulary=20)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        tokens = torch.randint(0, 20, (4, 17))
        logits = model(tokens[:, :-1])
        nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        yield from (p.grad.clone() for p in model.parameters() if p.grad is not None)
        optimizer.step()


def convolutions() -> Iterator[torch.Tensor]:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.LazyLinear(3))
    images = torch.randn(5, 1, 12, 12)
    for _ in range(3):
        model(images).logsumexp(1).mean().backward()  # accumulates
        yield from (p.grad.clone() for p in model.parameters() if p.grad is not None)


def unrolled() -> Iterator[torch.Tensor]:
    model = networks.Unrolled(3, 7)
    series = torch.randn(30, 2, 3, requires_grad=True)
    for _ in range(3):
        model(series).square().mean().backward()
        yield from (p.grad.clone() for p in (*model.parameters(), series) if p.grad is not None)


def penalty() -> Iterator[torch.Tensor]:
    model = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 1))
    for _ in range(3):
        x = torch.randn(6, 4, requires_grad=True)
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        (slope.norm(dim=1) - 1).square().mean().backward()
        yield from (p.grad.clone() for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("training", [gpt, convolutions, unrolled, penalty])
def test_gradients_are_those_of_plain_torch(tmp_path: Path, training: Callable[[], Iterator[torch.Tensor]]) -> None:
    torch.manual_seed(7)
    plain = list(training())
    torch.manual_seed(7)
    with record(tmp_path):
        recorded = list(training())
    assert len(plain) == len(recorded) >= 9
    assert all(torch.equal(one, other) for one, other in zip(plain, recorded, strict=True))


def test_warnings_are_the_scripts_own(tmp_path: Path) -> None:
    """Each is given, once, from the same place, whether or not the recorder looks at the same things."""

    def script() -> None:
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        _ = y.grad
        torch.autograd.backward(y.sum(), grad_variables=torch.tensor(1.0), retain_graph=True)
        torch.autograd.grad(y.sum(), x, only_inputs=False, retain_graph=True)
        x.grad = None

    def given() -> list[tuple[str, str, int]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            script()
        return [(str(w.message)[:40], w.filename, w.lineno) for w in caught]

    plain = given()
    with record(tmp_path):
        recorded = given()
    assert plain == recorded and len(plain) == 3


class Seen(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("kind", [Seen, Dispatched])
@pytest.mark.parametrize("size", [3, 9000])
def test_modes_see_the_script_only(tmp_path: Path, kind: type[Any], size: int) -> None:
    x = torch.ones(size, requires_grad=True)

    def script() -> list[str]:
        x.grad = None
        with kind() as mode:
            y = (x * 2).sin()
            y.sum().backward()
        names: list[str] = mode.names
        return names

    plain = script()
    with record(tmp_path) as found:
        assert script() == plain
    assert len(found.detail().executions) == 4


def test_a_profiler_sees_the_script_only(tmp_path: Path) -> None:
    x = torch.ones(9000, requires_grad=True)

    def script() -> list[str]:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
            (x * 2).sin().sum().backward()
        return sorted(event.name for event in profiler.events() if event.name.startswith("aten::"))

    script()
    plain = script()
    with record(tmp_path):
        recorded = script()
    assert recorded == plain


def test_the_collector_is_on_in_a_custom_backward(tmp_path: Path) -> None:
    seen = []

    class Looks(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            seen.append(gc.isenabled())
            if len(seen) == 2:
                gc.disable()
            return g * 2

    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(gc.isenabled()))
    with record(tmp_path):
        (Looks.apply(x) * 3).sum().backward()
        assert gc.isenabled()
        (Looks.apply(torch.ones(2, requires_grad=True)) * 3).sum().backward()
        assert seen[:2] == [True, True]
    gc.enable()
    assert all(seen)


def test_a_user_who_switches_the_collector_off(tmp_path: Path) -> None:
    x = torch.ones(2, requires_grad=True)
    gc.disable()
    try:
        with record(tmp_path):
            (x * 2).sum().backward()
            assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_low_recursion_limit(tmp_path: Path) -> None:
    x = torch.ones(2, requires_grad=True)

    def deep(left: int) -> None:
        if left:
            deep(left - 1)
        else:
            (x * 2).sum().backward()

    limit = sys.getrecursionlimit()
    depth = 0
    frame: Any = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    with record(tmp_path) as found:
        sys.setrecursionlimit(depth + 60)
        try:
            deep(25)
            assert sys.getrecursionlimit() == depth + 60
        finally:
            sys.setrecursionlimit(limit)
    assert values(found.accumulation("x").after) == [2.0, 2.0]


# The alarm may strike in a weak reference's callback of Python's own, which drops exceptions with a word.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_handler_that_raises_reaches_the_script(tmp_path: Path) -> None:
    """Wherever it strikes, also in our own code, the exception is the script's and hooks do not stay."""

    class Alarm(Exception):  # noqa: N818
        pass

    def handler(number: int, frame: Any) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, handler)
    struck = 0
    try:
        with gradviz.record(tmp_path / "r.gradviz"):
            x = torch.tensor(0.5, requires_grad=True)
            for k in range(40):
                y = x
                for _ in range(60):
                    y = y * x + x
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0004 * k)
                    y.backward()
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except Alarm:
                    struck += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert gc.isenabled()
            x.grad = None
            (x * 2).backward()
            assert x.grad is not None and x.grad.item() == 2.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert struck > 3


class Struck(BaseException):
    """What a signal handler of the script's raises on top of whatever runs."""


class Broken(list[Any]):
    """Loses what is added to it: a signal strikes between the making of a hook and the keeping of its handle."""

    def append(self, handle: Any) -> None:
        if len(self) == 3:
            raise Struck
        super().append(handle)


@pytest.mark.parametrize("place", ["hook", "register", "finish"])
def test_a_signal_between_hooks_and_engine_leaves_none(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def struck(*_: Any) -> None:
        raise Struck

    whole = {"hook": Recorder._hook, "register": Hooks.register, "finish": Hooks.remove}
    times = iter([True])

    def after(self: Any, *arguments: Any) -> None:
        if next(times, False):
            if place == "register":
                self._handles = Broken()
            if place != "finish":
                whole[place](self, *arguments)
            struck()
        whole[place](self, *arguments)

    owner, name = {"hook": (Recorder, "_hook"), "register": (Hooks, "register"), "finish": (Hooks, "remove")}[place]
    monkeypatch.setattr(owner, name, after)
    w = torch.ones(2, requires_grad=True)
    w.register_post_accumulate_grad_hook(lambda tensor: None)
    y = (w * 2).exp()
    with gradviz.record(tmp_path / "r.gradviz"):
        with pytest.raises(Struck):
            y.backward(torch.ones(2), retain_graph=True)
        for node in (y.grad_fn, y.grad_fn.next_functions[0][0], y.grad_fn.next_functions[0][0].next_functions[0][0]):
            for register in (node.register_hook, node.register_prehook):
                handle = register(struck)
                assert len(handle.hooks_dict_ref()) == 1
                handle.remove()
        assert len(w._post_accumulate_grad_hooks or ()) == 1
        w.grad = None
        y.backward(torch.ones(2))
        assert w.grad is not None


def test_default_devices_and_dtypes(tmp_path: Path) -> None:
    """A default device is a mode, which sees all."""
    torch.set_default_device("cpu")
    torch.set_default_dtype(torch.float64)
    try:
        with record(tmp_path, max_values=10) as found:
            x = torch.ones(50, requires_grad=True)
            (x * 2).sum().backward()
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
    after = found.accumulation("x").after
    assert after is not None and after.dtype == "float64" and after.norm == pytest.approx(2 * 50**0.5)


COMPILED = """
import sys, torch, gradviz
torch.set_num_threads(1)
def f(x):
    return (x.sin() * 2 + x).sum()
with gradviz.record(sys.argv[1]) as recorder:
    explained = torch._dynamo.explain(f)(torch.ones(3, requires_grad=True))
    print(explained.graph_break_count)
    x = torch.ones(3, requires_grad=True)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    compiled(x).backward()
    print(x.grad.tolist() == (x.detach().cos() * 2 + 1).tolist())
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.step()
    optimizer.zero_grad()
from gradviz.store.reader import open_recording
found = open_recording(sys.argv[1])
print([(node.op, node.kind) for node in found.graph(1).nodes], found.header.notes, found.calls[0].error)
print([(event.kind, event.names, event.place.line) for event in found.events])
"""


def test_compiled_code_still_compiles(tmp_path: Path) -> None:
    """In a process of its own: torch.compile keeps state for the life of a process."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMPILED, str(tmp_path / "r.gradviz")],
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    breaks, equal, rest, events = done.stdout.splitlines()
    assert (breaks, equal) == ("0", "True")
    assert rest == "[('CompiledFunctionBackward', 'opaque'), ('AccumulateGrad', 'leaf')] () None"
    assert events == "[('optimizer_step', ('#1',), 14), ('grad_cleared', ('#1',), 15)]"
