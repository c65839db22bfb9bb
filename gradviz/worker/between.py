"""Looks at the leaves at the moments between calls at which the script's line is known: `zero_grad`, `step`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from gradviz.model import Place
from gradviz.worker.care import Care
from gradviz.worker.events import Changes
from gradviz.worker.frames import place_of, user_frame
from gradviz.worker.quiet import compiling


class Between:
    """Watches optimizers by torch's global hooks, and `zero_grad` by the recorder's wrapper."""

    def __init__(self, changes: Changes, care: Care, listens: Callable[[], bool]) -> None:
        self._changes = changes
        self._care = care
        self._listens = listens
        self._handles: list[Any] = []

    def attach(self) -> None:
        """Start watching."""
        self._handles = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
        ]

    def detach(self) -> None:
        """Stop watching."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def measure(self, frame: FrameType | None, detail: str | None = None, values: bool = False) -> None:
        """Look at all known leaves; what changed was done by the user's line at `frame`, where that is known."""
        if not compiling() and self._listens():
            self._care.aside(lambda: self._changes.measure(_place(frame), detail, values))

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.measure(None)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if compiling() or not self._listens():
            return
        tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        frame = sys._getframe(1)
        self._care.aside(lambda: self._changes.stepped(tensors, _place(frame)))


def _place(frame: FrameType | None) -> Place | None:
    found = user_frame(frame)
    return None if found is None else place_of(found)
