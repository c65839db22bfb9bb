"""A clearing between a backward and the optimizer step that was to use its gradients: a part of `accumulated`."""

from __future__ import annotations

from collections.abc import Iterator

from gradviz.explain import words
from gradviz.explain.facts import Facts
from gradviz.model import Call, Event, Finding
from gradviz.texts import tr


def cleared_early(facts: Facts) -> Iterator[Finding]:
    """One finding for each line that clears too early."""
    told = set()
    since = _SinceStep(facts)
    for call in [*facts.user_calls, None]:
        for event in facts.events_before.get(None if call is None else call.number, ()):
            if event.kind == "grad_cleared" and event.place not in told:
                since.clear(event)
            elif event.kind == "optimizer_step":
                lost = since.lost(event)
                if lost:
                    clearing, earlier = since.cleared[lost[0]]
                    told.add(clearing.place)
                    yield _early(facts, clearing, earlier, event, lost)
                since = _SinceStep(facts)
        if call is not None and call.accumulates and call.engine:
            since.calls.append(call)


class _SinceStep:
    """What has happened to gradients since the last step. Of a long loop few calls are opened: those cleared away."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.calls: list[Call] = []  # not opened yet
        self.filled: dict[str, Call] = {}
        self.cleared: dict[str, tuple[Event, Call]] = {}

    def clear(self, event: Event) -> None:
        """Gradients are cleared."""
        self._open()
        self.cleared |= {name: (event, self.filled.pop(name)) for name in event.names if name in self.filled}

    def lost(self, step: Event) -> list[str]:
        """What this step was to use and does not find; nothing where it finds anything."""
        if not self.cleared:
            return []
        self._open()
        lost = [name for name in step.names if name in self.cleared]
        return [] if any(name in self.filled for name in step.names) else lost

    def _open(self) -> None:
        for call in self.calls:
            for entry in self._facts.detail(call.number).accumulations:
                if entry.name and entry.left is not None:
                    self.filled[entry.name] = call
                    self.cleared.pop(entry.name, None)
        self.calls.clear()


def _early(facts: Facts, clearing: Event, call: Call, step: Event, names: list[str]) -> Finding:
    message = tr(
        "{line} cleared the gradients of {names} after {call} had computed them and before the optimizer step in "
        "{step} could use them.",
        line=words.start(words.line(facts, clearing.place)),
        names=words.codes(names),
        call=words.call_at(facts, call),
        step=words.line(facts, step.place),
    )
    advice = tr(
        "Clear before the backward or after the step: {order}.",
        order=words.code("optimizer.zero_grad(); loss.backward(); optimizer.step()"),
    )
    return Finding("accumulated", "warning", call.number, None, clearing.place or call.place, message, advice)
