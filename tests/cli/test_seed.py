"""`gradviz seed` and `gradviz record --hold`, as a person types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.recorded import gradviz

SCRIPT = """import torch
A = torch.tensor([[1., 2.]], requires_grad=True)
B = torch.tensor([[10., 20., 30.], [100., 200., 300.]], requires_grad=True)
Z = A @ B
print("made", Z.tolist())
Z.backward()
"""
LOOP = """import torch
x = torch.tensor(2.0, requires_grad=True)
for k in range(3):
    (x * (k + 1)).backward()
print("end", x.grad.item())
"""


def script(folder: Path, text: str = SCRIPT) -> str:
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_call_that_failed_is_run_with_a_seed(tmp_path: Path) -> None:
    done = gradviz("seed", script(tmp_path), "--call", "1", "--seed", "one_hot(0)", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "what if, on call 1: seed one_hot(0)",
        "  root Z, seed [[1, 0, 0]]",
        "  A.grad = [[10, 100]]",
        "  B.grad = [[1, 0, 0], [2, 0, 0]]",
    ]
    assert "made [[210.0, 420.0, 630.0]]" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_a_seed_that_does_not_fit(tmp_path: Path) -> None:
    done = gradviz("seed", script(tmp_path), "--seed", "ones_like(A)", cwd=tmp_path)
    assert done.returncode == 2
    assert "dimension 1 is 3 there and 2 here" in done.stderr.splitlines()[-1]
    assert done.stdout == ""


def test_the_recording_is_kept_with_the_experiment(tmp_path: Path) -> None:
    words = ("seed", script(tmp_path, LOOP), "--call", "2", "--seed", "5.0", "-o", "kept.gradviz")
    done = gradviz(*words, cwd=tmp_path)
    assert done.returncode == 0 and "x.grad = 1 + 10 = 11" in done.stdout
    info = json.loads(gradviz("info", "kept.gradviz", "--json", cwd=tmp_path).stdout)
    assert [(call["label"], call["what_if"]) for call in info["calls"]] == [
        *(("1", False), ("2", False), ("3", False), ("2?1", True))
    ]
    assert info["calls"][3]["roots"][0]["seed"]["values"] == 5.0
    assert info["outcome"]["kind"] == "finished" and "end 6.0" in done.stderr
    again = gradviz(*words, cwd=tmp_path)
    assert again.returncode == 2 and "--force" in again.stderr


def test_the_jacobian(tmp_path: Path) -> None:
    done = gradviz("seed", script(tmp_path), "--jacobian", "A", "--rows", "2,0", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        *("d Z / d A: [1, 3] x [1, 2]", "  Z[0,2]  [[30, 300]]", "  Z[0,0]  [[10, 100]]")
    ]


def test_another_root_as_json_in_place(tmp_path: Path) -> None:
    words = ("--call", "1", "--root", "Z", "--seed", "ones", "--json", "--in-place")
    done = gradviz("seed", script(tmp_path, SCRIPT.replace("Z.backward()", "Z.sum().backward()")), *words, cwd=tmp_path)
    (call,) = json.loads(done.stdout)["calls"]
    assert call["what_if"] and call["accumulations"][0]["after"]["values"] == [[60.0, 600.0]]


def test_a_call_that_never_comes(tmp_path: Path) -> None:
    done = gradviz("seed", script(tmp_path, LOOP), "--call", "9", "--seed", "ones", cwd=tmp_path)
    assert done.returncode == 2
    assert "never came to call 9: it made 3 calls" in done.stderr


def test_words_that_do_not_fit_together(tmp_path: Path) -> None:
    assert "--seed" in gradviz("seed", script(tmp_path), cwd=tmp_path).stderr
    assert gradviz("seed", "nothing.py", "--seed", "ones", cwd=tmp_path).returncode == 2
    assert "names no rows" in gradviz("seed", script(tmp_path), "--jacobian", "A", "--rows", "x", cwd=tmp_path).stderr


def test_record_hold_asks_for_seeds(tmp_path: Path) -> None:
    lines = "2: 10.0\n[1, 2]\n0.5\n\n"
    words = [sys.executable, "-m", "gradviz", "record", script(tmp_path, LOOP), "-o", "h.gradviz", "--hold", "2"]
    done = subprocess.run(words, cwd=tmp_path, input=lines, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert "Held: call 2, 3." in done.stderr and "The root is a scalar" in done.stderr
    assert "x.grad = 1 + 20 = 21" in done.stdout and "x.grad = 3 + 1.5 = 4.5" in done.stdout
    info = json.loads(gradviz("info", "h.gradviz", "--json", cwd=tmp_path).stdout)
    assert [call["label"] for call in info["calls"] if call["what_if"]] == ["2?1", "3?1"]
