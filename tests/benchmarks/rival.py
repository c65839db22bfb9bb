"""Measures torchlens on one network of the table of `record`: `python -m tests.benchmarks.rival gpt` prints a ratio.

The column is empty where a network is not accepted: torchlens runs the model itself, and one without inputs has
nothing that it could be given.
"""

from __future__ import annotations

import importlib
import statistics
import sys
from typing import Any

import torch

from tests.benchmarks import record

TURNS = 2


def traced(work: record.Work, torchlens: Any) -> None:
    """A step in which torchlens keeps every activation and every gradient."""
    work.model.zero_grad()
    capture = torchlens.options.CaptureOptions(save_grads=True)
    trace = torchlens.trace(work.model, list(work.inputs), capture=capture)
    trace.log_backward(work.loss(trace[trace.output_layers[0]].out))


def main() -> None:
    """Print how many times as long as a plain step a traced one takes."""
    torchlens = importlib.import_module("torchlens")
    torch.manual_seed(0)
    work = getattr(record, sys.argv[1])()
    if not work.inputs:
        print("-")
        return
    work.step()
    plain = [record.seconds(work.step) for _ in range(TURNS)]
    slow = [record.seconds(lambda: traced(work, torchlens)) for _ in range(TURNS)]
    print(f"{statistics.median(slow) / statistics.median(plain):.3g}")


if __name__ == "__main__":
    main()
