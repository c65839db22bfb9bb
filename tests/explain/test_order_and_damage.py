"""Findings come in a fixed order, and a damaged recording makes none up."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from gradviz.errors import DamagedRecordingError
from gradviz.explain import findings
from gradviz.model import (
    Binding,
    CallDetail,
    Graph,
)
from gradviz.store.reader import close_recording, open_recording
from tests import recordings as made
from tests.explain.hand import carried, codes, deep, rebound
from tests.explain_table import CASES, record
from tests.recorded import record_text
from tests.recordings import MemorySource


class Broken(MemorySource):
    """A recording of which nothing can be read any more."""

    def graph(self, number: int) -> Graph:
        raise DamagedRecordingError("cut off")

    def detail(self, number: int) -> CallDetail:
        raise DamagedRecordingError("cut off")

    def bindings(self) -> tuple[Binding, ...]:
        raise DamagedRecordingError("cut off")

    def sources(self) -> dict[str, str]:
        raise DamagedRecordingError("cut off")


class _GraphsLost:
    """What a recording holds, but for its graphs."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def graph(self, number: int) -> Graph:
        raise DamagedRecordingError("cut off")


@pytest.mark.parametrize("case", ["accumulated/forgotten.py", "grad-none/fine_agent.py", "grad-none/unused_layer.py"])
def test_graphs_that_cannot_be_read_are_no_absence(case: str, tmp_path: Path) -> None:
    recording = open_recording(str(record(CASES / "explain" / case, tmp_path)))
    damaged = dataclasses.replace(recording, source=_GraphsLost(recording.source))
    assert set(codes(findings(damaged))) <= {"accumulated"}
    close_recording(recording)


@pytest.mark.parametrize("make", [made.two_calls, made.no_seed, made.leaf_root, lambda: carried(4), rebound])
def test_a_damaged_recording_raises_nothing(make: Any) -> None:
    whole = make()
    damaged = dataclasses.replace(whole, source=Broken())
    allowed = {"scalar-only", "second-time"}  # these are known from the heads of the calls
    assert set(codes(findings(damaged))) <= allowed


@pytest.mark.parametrize("make", [made.two_calls, made.no_seed, lambda: carried(4), rebound, lambda: deep(0.25)])
def test_the_same_recording_gives_the_same_findings(make: Any) -> None:
    first, second = findings(make()), findings(make())
    assert first == second
    order = [(f.call is None, f.call or 0, ("error", "warning", "info").index(f.level)) for f in first]
    assert order == sorted(order)


def test_a_product_of_which_no_element_was_kept(tmp_path: Path) -> None:
    script = """import torch
x = torch.tensor([1e30, 1.0], requires_grad=True)
((x * torch.tensor([1e30, 1.0])) * torch.tensor([1e30, 1.0])).sum().backward()
"""
    found = record_text(script, tmp_path, "--max-values", "0")
    assert found.exit_code == 0
    assert [finding["code"] for finding in found.info["findings"]] == ["nonfinite"]
