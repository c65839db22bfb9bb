"""What experiments answer: gradients against hand-computed numbers, Jacobians against torch, and clear refusals."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gradviz.errors import SeedError
from gradviz.runner.experiments import Held
from gradviz.runner.keeping import keep
from gradviz.runner.snapshots import Snapshots
from gradviz.store.reader import close_recording, open_recording
from tests.holding import held, read, returned, write

MATMUL = """
import torch
A = torch.tensor([[1., 2.]], requires_grad=True)
B = torch.tensor([[10., 20., 30.], [100., 200., 300.]], requires_grad=True)
G1 = torch.tensor([[0., 2., 0.]])
Z = A @ B
Z.backward(torch.tensor([[1., 0., 0.]]), retain_graph=True)
Z.sum().backward()
"""
BOTH = pytest.mark.parametrize("in_place", [False, True], ids=["snapshot", "in place"])


def on(folder: Path, text: str, work: Callable[[Held], Any], label: str = "1", in_place: bool = False) -> Any:
    """What `work` finds on one call of a script."""
    return held(write(folder, text), (label,), work, in_place).answers[label]


@BOTH
def test_seeds_of_every_kind(tmp_path: Path, in_place: bool) -> None:
    """By hand: with seed v, A.grad = v Bᵀ and B.grad = Aᵀ v."""

    def work(call: Held) -> dict[str, tuple[Any, Any]]:
        seeds = ("ones", "zeros", "one_hot(0, 1)", "one_hot(2)", "column(1)", "row(0)", "G1", "2 * ones", "[[0, 0, 3]]")
        reads = {seed: read(call.run([seed]).recording) for seed in seeds}
        return {seed: (found.grad("A"), found.grad("B")) for seed, found in reads.items()}

    found = on(tmp_path, MATMUL, work, in_place=in_place)
    rows = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert found["ones"] == ([[60.0, 600.0]], [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    assert found["row(0)"] == found["ones"]
    assert found["zeros"] == ([[0.0, 0.0]], rows)
    assert found["one_hot(0, 1)"] == ([[20.0, 200.0]], [[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
    assert found["column(1)"] == found["one_hot(0, 1)"]
    assert found["one_hot(2)"] == ([[30.0, 300.0]], [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    assert found["G1"] == ([[40.0, 400.0]], [[0.0, 2.0, 0.0], [0.0, 4.0, 0.0]])
    assert found["2 * ones"] == ([[120.0, 1200.0]], [[2.0, 2.0, 2.0], [4.0, 4.0, 4.0]])
    assert found["[[0, 0, 3]]"] == ([[90.0, 900.0]], [[0.0, 0.0, 3.0], [0.0, 0.0, 6.0]])


@BOTH
def test_gradients_add_to_what_the_script_has_by_then(tmp_path: Path, in_place: bool) -> None:
    """Call 1 leaves A.grad = [10, 100]; a seed of 2 at the sum adds [120, 1200]."""
    found = on(tmp_path, MATMUL, lambda call: read(call.run(["2.0"]).recording), "2", in_place)
    assert found.grad("A") == [[120.0, 1200.0]]
    assert found.after("A") == [[130.0, 1300.0]]
    call = found.recording.call(1)
    assert call.what_if and call.note == "2.0"
    assert (call.roots[0].seed_given, call.roots[0].seed_name) == (True, "2.0")
    assert call.roots[0].seed is not None and call.roots[0].seed.nested() == 2.0


@BOTH
def test_other_roots_and_several(tmp_path: Path, in_place: bool) -> None:
    def work(call: Held) -> tuple[Any, Any]:
        one = read(call.run(["one_hot(0)"], ["Z"]).recording)
        two = read(call.run(["one_hot(0)", "one_hot(1)"], ["Z", "Z"]).recording)
        return one.grad("A"), two.grad("A")

    one, two = on(tmp_path, MATMUL, work, "2", in_place)
    assert (one, two) == ([[10.0, 100.0]], [[30.0, 300.0]])


def test_a_node_can_be_a_root(tmp_path: Path) -> None:
    """`#k` names a node of the recording, here the one that made t2 of `(x * 2) * 3`."""
    text = "import torch\nx = torch.tensor(1.0, requires_grad=True)\n((x * 2) * 3).backward()\n"

    def work(call: Held) -> list[Any]:
        return [read(call.run(["1.0"], [f"#{node}"]).recording).grad("x") for node in (0, 1)]

    assert sorted(on(tmp_path, text, work)) == [2.0, 6.0]


@BOTH
def test_jacobian_equals_torch(tmp_path: Path, in_place: bool) -> None:
    """Batched; the seed times the matrix is what the call itself computes."""
    text = """
import torch
torch.manual_seed(0)
W = torch.randn(4, 3, dtype=torch.float64)
x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
y = torch.tanh(x @ W.T) * 2
v = torch.arange(8., dtype=torch.float64).reshape(2, 4)
y.backward(v)
"""

    def work(call: Held) -> tuple[Any, ...]:
        steps: list[tuple[int, int]] = []
        found = call.jacobian("x", progress=lambda done, total: steps.append((done, total)))
        some = call.jacobian("x", rows=[5, 0])
        return found, returned(found.what_if.recording), returned(some.what_if.recording), steps, call.run(["v"])

    script = write(tmp_path, text)
    did = held(script, ("1",), lambda call: (*work(call), read(call.run(["v"]).recording).grad("x")), in_place)
    found, matrix, some, steps, _, gradient = did.answers["1"]
    torch.manual_seed(0)
    weight = torch.randn(4, 3, dtype=torch.float64)
    x = torch.randn(2, 3, dtype=torch.float64)
    expected = torch.autograd.functional.jacobian(lambda t: torch.tanh(t @ weight.T) * 2, x).reshape(8, 2, 3)
    torch.testing.assert_close(torch.tensor(matrix, dtype=torch.float64), expected, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(torch.tensor(some, dtype=torch.float64), expected[[5, 0]], rtol=1e-12, atol=1e-14)
    assert (found.root_shape, found.input_shape, found.batched) == ((2, 4), (2, 3), True)
    assert steps[0] == (0, 8) and steps[-1] == (8, 8)
    seed = torch.arange(8.0, dtype=torch.float64)
    combined = torch.einsum("r,rij->ij", seed, torch.tensor(matrix, dtype=torch.float64))
    torch.testing.assert_close(combined, torch.tensor(gradient, dtype=torch.float64), rtol=1e-12, atol=1e-14)


@BOTH
def test_jacobian_row_by_row_where_it_cannot_be_batched(tmp_path: Path, in_place: bool) -> None:
    text = """
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if g.abs().sum().item() == 0:
            return torch.zeros_like(x)
        return 2 * x * g
x = torch.tensor([1., 2., 3.], requires_grad=True)
Square.apply(x).sum().backward()
"""

    def work(call: Held) -> tuple[bool, Any]:
        found = call.jacobian("x", root="#1")
        return found.batched, returned(found.what_if.recording)

    batched, matrix = on(tmp_path, text, work, in_place=in_place)
    assert not batched
    assert matrix == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]


def test_off_diagonal_blocks_are_zero(tmp_path: Path) -> None:
    """A gradient of shape (batch, in) is the sum over outputs of a Jacobian (batch, out, batch, in)."""
    text = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)).double()
x = torch.rand(4, 3, requires_grad=True, dtype=torch.float64)
y = model(x)
torch.autograd.grad(y, x, torch.ones_like(y))
"""

    def work(call: Held) -> tuple[Any, Any]:
        return returned(call.jacobian("x").what_if.recording), returned(call.run(["ones"]).recording)

    matrix, gradient = on(tmp_path, text, work)
    blocks = torch.tensor(matrix, dtype=torch.float64).reshape(4, 2, 4, 3)
    for one in range(4):
        for other in range(4):
            assert one == other or not blocks[one, :, other].any()
    total = torch.stack([blocks[k, :, k].sum(0) for k in range(4)])
    torch.testing.assert_close(total, torch.tensor(gradient, dtype=torch.float64), rtol=1e-12, atol=1e-14)


def test_finite_differences_agree_with_the_engine(tmp_path: Path) -> None:
    text = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x = torch.randn(5, 3)
for step in range(3):
    loss = (model(x) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
            p.grad = None
"""

    def work(call: Held) -> list[Any]:
        return [call.finite_difference("model.0.weight", k) for k in (0, 5)] + [
            call.finite_difference("model.2.bias", direction="3 * ones")
        ]

    for found in on(tmp_path, text, work, "3"):
        assert found.dtype == "float64"
        assert found.difference == pytest.approx(found.gradient, rel=1e-4, abs=1e-7)
        assert found.difference != 0


def test_a_wrong_backward_is_found_by_measuring(tmp_path: Path) -> None:
    text = """
import torch
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]
x = torch.tensor(2.0, requires_grad=True)
y = Wrong.apply(x)
y.backward()
"""
    found = on(tmp_path, text, lambda call: call.finite_difference("x"))
    assert found.gradient == 4.0
    assert found.difference == pytest.approx(12.0, rel=1e-6)


def test_lines_that_change_the_input_are_run_again_from_the_start(tmp_path: Path) -> None:
    """The value at the call is 7, y was made of 2: only the whole script gives y a second time."""
    text = "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x ** 2\nx.data.fill_(7.0)\ny.backward()\n"
    found = on(tmp_path, text, lambda call: call.finite_difference("x"))
    assert found.difference == pytest.approx(4.0, rel=1e-6)


def test_what_the_script_had_computed_is_not_measured(tmp_path: Path) -> None:
    """The root is made inside the function that calls the engine, of an x that was made outside of it."""
    text = """
import torch
def rows(inputs, outputs):
    parts = [outputs[k] for k in range(2)]
    return [torch.autograd.grad(part, inputs, retain_graph=True)[0] for part in parts]
q = torch.tensor([1.0, 2.0], requires_grad=True)
x = 2 * q * q
rows(q, x)
"""

    def work(call: Held) -> float | str:
        try:
            return call.finite_difference("q").difference
        except SeedError as error:
            return str(error)

    found = on(tmp_path, text, work)
    assert "cannot be run again" in str(found) or found == pytest.approx(4.0, rel=1e-6)


def test_complex_numbers_are_not_measured(tmp_path: Path) -> None:
    text = "import torch\nz = torch.tensor(1 + 2j, requires_grad=True)\ny = (z * z.conj()).real\ny.backward()\n"

    def work(call: Held) -> str:
        with pytest.raises(SeedError) as error:
            call.finite_difference("z")
        return str(error.value)

    assert "real numbers only" in on(tmp_path, text, work)


def test_a_forward_pass_that_cannot_be_run_again_is_not_measured(tmp_path: Path) -> None:
    text = """
import time, torch
x = torch.tensor(2.0, requires_grad=True)
y = x * (1 + time.perf_counter() % 1)
y.backward()
"""

    def work(call: Held) -> str:
        with pytest.raises(SeedError) as error:
            call.finite_difference("x")
        return str(error.value)

    assert "cannot be run again" in on(tmp_path, text, work)


# -- bad input ---------------------------------------------------------------------------------------------------------

BAD = {
    "1 / 0": "raised ZeroDivisionError",
    "ones_like(": "not a Python expression",
    "'text'": "gives a str, not a tensor",
    "print": "not a tensor",
    "nowhere": "raised NameError",
    "torch.ones(3)": "has shape (1, 3), 2 dimensions",
    "torch.ones(3, 1)": "dimension 0 is 1 there and 3 here",
    "torch.ones(1, 3, dtype=torch.complex64)": "complex",
    "torch.ones(1, 3, device='meta')": "lives on meta",
    "one_hot(7)": "raised IndexError",
    "one_hot": "wants an index",
    "any(k for k in iter(int, 1))": "more than 5",
    "exit()": "SystemExit",
}


@BOTH
def test_a_bad_seed_is_refused_in_a_sentence(tmp_path: Path, in_place: bool) -> None:
    def work(call: Held) -> dict[str, str]:
        said = {}
        for seed in BAD:
            try:
                call.run([seed])
                said[seed] = "it ran"
            except SeedError as error:
                said[seed] = str(error)
        said["afterwards"] = str(read(call.run(["ones"]).recording).grad("A"))
        return said

    said = on(tmp_path, MATMUL, work, in_place=in_place)
    assert said.pop("afterwards") == "[[60.0, 600.0]]"
    assert {seed: BAD[seed] in text for seed, text in said.items()} == dict.fromkeys(BAD, True), said


def test_numbers_are_as_exact_as_the_root(tmp_path: Path) -> None:
    text = "import torch\nx = torch.ones(2, dtype=torch.float64, requires_grad=True)\n(x * 1).backward(torch.ones(2))\n"
    assert on(tmp_path, text, lambda call: read(call.run(["[0.1, 1/3]"]).recording).grad("x")) == [0.1, 1 / 3]


@BOTH
def test_what_fits_with_a_remark(tmp_path: Path, in_place: bool) -> None:
    def work(call: Held) -> dict[str, Any]:
        seeds = ("[[1, 0, 0]]", "torch.tensor([[1, 0, 0]])", "torch.ones(3, 1)", "torch.ones(3)", "torch.ones(1, 1)")
        nonfinite = "torch.tensor([[1, float('nan'), float('inf')]])"
        return {seed: call.check(seed) for seed in (*seeds, nonfinite, "torch.ones(5)")}

    found = on(tmp_path, MATMUL, work, in_place=in_place)
    whole = found["torch.tensor([[1, 0, 0]])"]
    assert whole.fits and "int64" in whole.note
    assert found["[[1, 0, 0]]"].fits and found["[[1, 0, 0]]"].note is None  # Python's numbers have no type to tell
    assert found["[[1, 0, 0]]"].values == whole.values == [[1.0, 0.0, 0.0]]
    assert [found["torch.tensor([[1, float('nan'), float('inf')]])"].nan, found["[[1, 0, 0]]"].nan] == [1, 0]
    assert "nan or infinite" in found["torch.tensor([[1, float('nan'), float('inf')]])"].note
    assert found["torch.ones(3, 1)"].nearest == "(torch.ones(3, 1)).T"
    assert found["torch.ones(3)"].nearest == "(torch.ones(3)).reshape((1, 3))"
    assert found["torch.ones(1, 1)"].nearest == "(torch.ones(1, 1)).expand((1, 3))"
    assert found["torch.ones(5)"].nearest == "ones" and not found["torch.ones(5)"].fits


@BOTH
def test_a_seed_of_a_thousand_million_elements_is_refused(tmp_path: Path, in_place: bool) -> None:
    def work(call: Held) -> str:
        with pytest.raises(SeedError) as error:
            call.run(["torch.ones(10**9)"])
        return str(error.value)

    said = on(tmp_path, MATMUL, work, in_place=in_place)
    assert "memory" in said or "1000000000" in said


def test_a_seed_that_never_ends_in_c_is_ended(tmp_path: Path) -> None:
    def work(call: Held) -> tuple[str, Any]:
        with pytest.raises(SeedError) as error:
            call.run(["sum(iter(int, 1))"])
        return str(error.value), read(call.run(["ones"]).recording).grad("A")

    said, gradient = on(tmp_path, MATMUL, work)
    assert "more than 5" in said
    assert gradient == [[60.0, 600.0]]


def test_a_seed_that_crashes_ends_one_experiment(tmp_path: Path) -> None:
    def work(call: Held) -> tuple[str, Any]:
        with pytest.raises(SeedError) as error:
            call.run(["__import__('ctypes').string_at(0)"])
        return str(error.value), read(call.run(["ones"]).recording).grad("A")

    said, gradient = on(tmp_path, MATMUL, work)
    assert "SIGSEGV" in said
    assert gradient == [[60.0, 600.0]]


def test_an_experiment_cannot_write_files(tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("precious")

    def work(call: Held) -> list[str]:
        said = []
        for seed in (
            f"open({str(target)!r}, 'w')",
            f"__import__('os').remove({str(target)!r})",
            "__import__('os').system('true')",
        ):
            with pytest.raises(SeedError) as error:
                call.run([seed])
            said.append(str(error.value))
        return said

    said = on(tmp_path / "script", MATMUL, work)
    assert target.read_text() == "precious"
    assert all("PermissionError" in text for text in said)


@BOTH
def test_a_jacobian_that_is_too_large_is_refused(tmp_path: Path, in_place: bool) -> None:
    text = "import torch\nx = torch.ones(5000, requires_grad=True)\ny = x * 2\ny.backward(torch.ones(5000))\n"

    def work(call: Held) -> tuple[str, str, str, Any]:
        said = []
        for arguments in ({"rows": None}, {"rows": range(4000)}, {"rows": [5000]}):
            with pytest.raises(SeedError) as error:
                call.jacobian("x", **arguments)
            said.append(str(error.value))
        return (*said, call.jacobian("x", rows=[4999]).rows)

    large, many, outside, rows = on(tmp_path, text, work, in_place=in_place)
    assert "5000 x 5000" in large and "Ask for some" in large
    assert "4000 rows" in many and "no row 5000" in outside and rows == (4999,)


def test_what_is_asked_for_must_be_there(tmp_path: Path) -> None:
    def work(call: Held) -> list[str]:
        said = []
        for ask in (
            lambda: call.run(["ones"], ["Zz"]),
            lambda: call.run(["ones"], ["G1"]),
            lambda: call.run(["ones"], ["#99"]),
            lambda: call.run(["ones", "ones"]),
            lambda: call.run([], ["Z"]),
            lambda: call.jacobian("nothing"),
        ):
            with pytest.raises(SeedError) as error:
                ask()
            said.append(str(error.value))
        return said

    unknown, constant, node, many, none, lost = on(tmp_path, MATMUL, work)
    assert "no tensor named 'Zz'" in unknown and "Z" in unknown.split(":")[-1]
    assert "no grad_fn" in constant
    assert "#99" in node
    assert "2 seeds for 1 roots" in many
    assert "needs a seed" in none
    assert "nothing" in lost


# -- life --------------------------------------------------------------------------------------------------------------


def alive(process: int | None) -> bool:
    if process is None:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def children(process: int | None) -> list[int]:
    return [int(p) for p in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def gone(processes: list[int]) -> None:
    """Wait until these have ended."""
    waiting = threading.Event()
    for _ in range(200):
        if not any(map(alive, processes)):
            return
        waiting.wait(0.05)
    raise AssertionError(f"still there: {processes}")


def ticks(process: int | None) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_ending_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    did = held(write(tmp_path, MATMUL), ("1",), lambda call: (call, call.run(["ones"])), keep_alive=True)
    call, found = did.answers["1"]
    assert alive(call.process) and Path(found.recording).exists()
    family = [call.process, *children(call.process)]
    call.end()
    gone(family)
    assert not Path(found.recording).parent.exists()
    with pytest.raises(SeedError, match="not held any more"):
        call.run(["ones"])


def test_a_snapshot_that_waits_costs_no_time_and_answers_after_the_script_has_ended(tmp_path: Path) -> None:
    did = held(write(tmp_path, MATMUL), ("1",), lambda call: (call, call.run(["ones"])), keep_alive=True)
    call, _ = did.answers["1"]
    call.names()
    waiting = threading.Event()
    waiting.wait(0.5)  # it makes runners ahead of time
    before = ticks(call.process)
    waiting.wait(1.0)
    assert ticks(call.process) - before <= 1
    assert read(call.run(["one_hot(1)"]).recording).grad("A") == [[20.0, 200.0]]
    call.end()
    gone([call.process])


def test_a_snapshot_that_is_killed_says_so(tmp_path: Path) -> None:
    did = held(write(tmp_path, MATMUL), ("1",), lambda call: call, keep_alive=True)
    call = did.answers["1"]
    os.kill(call.process, signal.SIGKILL)
    with pytest.raises(SeedError, match="is gone"):
        call.run(["ones"])
    call.end()


def test_a_script_that_dies_while_it_is_held(tmp_path: Path) -> None:
    def work(call: Held) -> str:
        os.kill(call.process or 0, signal.SIGKILL)
        with pytest.raises(SeedError) as error:
            call.run(["ones"])
        return str(error.value)

    did = held(write(tmp_path, MATMUL), ("2",), work, in_place=True)
    assert "ended while it was held" in did.answers["2"]
    recording = open_recording(str(did.recording))
    assert [call.label for call in recording.calls] == ["1", "2"]
    assert recording.call(1).complete and not recording.call(2).complete
    close_recording(recording)


def test_cancelling(tmp_path: Path) -> None:
    text = """
import torch
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        while g.sum().item() == 7:
            pass
        return g
x = torch.ones(1, requires_grad=True)
y = Slow.apply(x)
y.backward()
"""

    def work(call: Held) -> tuple[str, Any]:
        said: list[str] = []

        def never() -> None:
            try:
                call.run(["7 * ones"])
            except SeedError as error:
                said.append(str(error))

        thread = threading.Thread(target=never)
        thread.start()
        waiting = threading.Event()
        while thread.is_alive():
            call.cancel()
            waiting.wait(0.1)
        return said[0], read(call.run(["2 * ones"]).recording).grad("x")

    assert on(tmp_path, text, work) == ("Cancelled.", [2.0])


def test_the_oldest_of_four_snapshots_ends(tmp_path: Path) -> None:
    text = "import torch\nx = torch.ones(1, requires_grad=True)\nfor k in range(4):\n    (x * k).backward()\n"
    snapshots = Snapshots(3)
    did = held(write(tmp_path, text), ("1", "2", "3", "4"), lambda call: call, keep_alive=True)
    for label in sorted(did.answers):
        snapshots.add(did.answers[label])
    assert snapshots.labels() == ("2", "3", "4")
    gone([did.answers["1"].process])
    assert snapshots.find("1") is None and snapshots.find("3") is did.answers["3"]
    snapshots.close()
    gone([call.process for call in did.answers.values()])


def test_by_itself_the_recorder_holds_the_first_calls_and_the_failed_ones(tmp_path: Path) -> None:
    text = """
import torch
x = torch.ones(2, requires_grad=True)
for k in range(200):
    (x * k).sum().backward()
try:
    (x * 2).backward()
except RuntimeError:
    print("no seed")
"""
    did = held(write(tmp_path, text), None, lambda call: call.label)
    labels = set(did.answers)
    assert {"1", "2", "3", "201"} <= labels
    assert len(labels) < 150  # not each one of a fast loop
    assert did.stdout == b"no seed\n"


def test_an_experiment_is_kept_beside_the_scripts_own_calls(tmp_path: Path) -> None:
    did = held(
        write(tmp_path, MATMUL), ("1",), lambda call: (call, call.run(["ones"]), call.run(["G1"])), keep_alive=True
    )
    call, first, second = did.answers["1"]
    numbers = [keep(str(did.recording), found) for found in (first, second)]
    recording = open_recording(str(did.recording))
    assert [(call.number, call.label, call.what_if) for call in recording.calls] == [
        *((1, "1", False), (2, "2", False), (3, "1?1", True), (4, "1?2", True))
    ]
    assert numbers == [3, 4] and len(recording.top_calls) == 2
    own, tried = recording.graph(1), recording.graph(3)
    assert [(node.id, node.key, node.op) for node in own.nodes] == [(n.id, n.key, n.op) for n in tried.nodes]
    assert own.edges == tried.edges
    entry = next(entry for entry in recording.detail(4).accumulations if entry.name == "A")
    assert entry.after is not None and entry.after.nested() == [[40.0, 400.0]]
    assert recording.detail(3).executions[0].grad_outputs[0] == recording.call(3).roots[0].seed
    close_recording(recording)
    call.end()
    gone([call.process])
