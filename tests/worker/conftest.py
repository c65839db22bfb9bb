"""For tests of the recorder in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.worker import inspecting


@pytest.fixture(autouse=True)
def same_numbers() -> Iterator[None]:
    torch.manual_seed(0)
    yield
    inspecting.close_all()
