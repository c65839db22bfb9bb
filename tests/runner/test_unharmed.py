"""A script whose calls are held does what it does under python alone, bit for bit, whatever is tried on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradviz.errors import SeedError
from gradviz.runner.experiments import Held
from tests.holding import Did, held, plain, same, write

# What every script shows at its end: bits of gradients, and what its random generators give next.
START = """
import random, torch, numpy
random.seed(5)
torch.manual_seed(4)
numpy.random.seed(6)
"""
END = """
def bits(t):
    return None if t is None else [float(x).hex() for x in t.detach().reshape(-1).tolist()]
print(torch.rand(3).tolist(), random.random(), numpy.random.rand())
"""

RETAINED = (
    START
    + """
import torch
torch.manual_seed(1)
w = torch.randn(3, requires_grad=True)
h = w * 2
h.retain_grad()
out = h * h
out.retain_grad()
out.backward(torch.tensor([1.0, 0.0, 2.0]), retain_graph=True)
first = h.grad
with open("log.txt", "w") as log:
    log.write("before")
    (out.sum() + h.sum()).backward()
    log.write("after")
assert first is h.grad or first is not None
"""
    + END
    + "print(bits(w.grad), bits(h.grad), bits(out.grad), w.grad._version, h.grad._version)\n"
)

HOOKS = (
    START
    + """
import torch, warnings
seen = []
def double(g):
    print("hook", g.tolist())
    warnings.warn("doubling")
    return 2 * g
def step(p):
    print("stepping", p.grad.tolist())
    with torch.no_grad():
        p -= 0.1 * p.grad
    p.grad = None
torch.manual_seed(2)
a = torch.randn(3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
b.register_post_accumulate_grad_hook(step)
y = a * b
y.register_hook(double)
a.register_hook(lambda g: g + 1)
y.grad_fn.register_prehook(lambda g: print("prehook"))
y.backward(torch.ones(3))
((y.detach() * a) * b).sum().backward()
"""
    + END
    + "print(bits(a.grad), bits(b.grad), bits(b))\n"
)

DROPOUT = (
    START
    + """
import torch
from torch.utils.checkpoint import checkpoint
class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.nn.functional.dropout(g * 2 * x, 0.5)
torch.manual_seed(3)
x = torch.randn(8, requires_grad=True)
layer = torch.nn.Linear(8, 8)
def block(t):
    print("forward of the block")
    return torch.nn.functional.dropout(torch.tanh(layer(t)), 0.5)
y = Noisy.apply(checkpoint(block, x, use_reentrant=False))
y.sum().backward()
Noisy.apply(layer(x)).sum().backward()
"""
    + END
    + "print(bits(x.grad), bits(layer.weight.grad)[:8], bits(layer.bias.grad))\n"
)

CATCHES = (
    START
    + """
import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * x
try:
    y.backward()
except RuntimeError as error:
    print("as expected:", error)
try:
    y.backward(torch.ones(2))
except RuntimeError as error:
    print("and again:", error)
y.sum().backward()
try:
    y.sum().backward()
except RuntimeError as error:
    print("gone:", str(error)[:40])
"""
    + END
    + "print(bits(x.grad))\n"
)

SCRIPTS = {
    "retained": (RETAINED, ("1", "2")),
    "hooks": (HOOKS, ("1", "2")),
    "dropout": (DROPOUT, ("1", "2")),
    "catches": (CATCHES, ("1", "2", "3", "4")),
}
SEEDS = ("ones", "zeros", "normal(1)", "signs(2)", "one_hot(0)", "itself", "-3 * ones_like(root)", "row(0)")


def twenty_experiments(call: Held) -> list[str | None]:
    """Different seeds, the script's own, and a Jacobian; returns what went wrong in each."""
    fitting = [seed for seed in SEEDS if not (seed == "row(0)" and call.check("ones").expected == ())]
    errors = [call.run([fitting[k % len(fitting)]], hooks=True).error for k in range(19)]
    leaf = next(tensor.name for tensor in call.names() if tensor.is_leaf)
    try:
        call.jacobian(leaf, hooks=True)
    except SeedError as error:
        return [*errors, str(error)]
    return [*errors, None]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Did]:
    """The scripts under python alone."""
    return {name: plain(write(tmp_path_factory.mktemp(name), text)) for name, (text, _) in SCRIPTS.items()}


@pytest.mark.parametrize("in_place", [False, True], ids=["snapshot", "in place"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_twenty_experiments_leave_no_trace(name: str, in_place: bool, alone: dict[str, Did], tmp_path: Path) -> None:
    text, labels = SCRIPTS[name]
    did = held(write(tmp_path, text), labels, twenty_experiments, in_place)
    same(did, alone[name])
    assert did.answers.keys() == set(labels)
    assert did.in_place == (set(labels) if in_place else set())
    for label, errors in did.answers.items():
        gone = name == "catches" and label == "4"  # the script's own call fails there too
        assert all((error is not None) == gone for error in errors), (label, errors)


@pytest.mark.parametrize("in_place", [False, True], ids=["snapshot", "in place"])
def test_a_held_call_that_nobody_uses_leaves_no_trace(in_place: bool, alone: dict[str, Did], tmp_path: Path) -> None:
    text, labels = SCRIPTS["retained"]
    same(held(write(tmp_path, text), labels, lambda call: None, in_place), alone["retained"])


def test_in_place_the_users_hooks_are_named_and_run_only_when_agreed(tmp_path: Path) -> None:
    def ask(call: Held) -> tuple[tuple[str, ...], str]:
        with pytest.raises(SeedError) as refused:
            call.run(["ones"])
        return call.hooks, str(refused.value)

    answers = held(write(tmp_path, HOOKS), ("1", "2"), ask, in_place=True).answers
    names, said = answers["1"]
    assert any(name.startswith("double") for name in names) and "double" in said
    assert any("<lambda>" in name for name in names)
    assert not any("step" in name for name in names)  # it runs after AccumulateGrad, which no experiment runs in place


def test_without_hooks_nothing_must_be_agreed_to(tmp_path: Path) -> None:
    did = held(write(tmp_path, RETAINED), ("1",), lambda call: (call.hooks, call.run(["ones"]).error), in_place=True)
    assert did.answers == {"1": ((), None)}
