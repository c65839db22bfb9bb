"""The hook of torch's own nodes in a calm run, where nothing else can run.

It does what the hook in `hooks.py` does in any other run, and asks nothing that only others could have changed: whose
run it is, and whether what arrives is still what was sent. For each of 20,000 nodes that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Protocol

from gradviz.store.codec import UNDEFINED
from gradviz.worker.flow import Flow
from gradviz.worker.gathered import Gathered
from gradviz.worker.intake import Deferred, Intake, Item
from gradviz.worker.sent import Sent

Hook = Callable[[int, Any, Any], None]


class Owner(Protocol):
    """The hooks of the run."""

    gathered: Gathered
    due: float  # when what is done so far is to be written

    def several(self, index: int, gradients: Any) -> list[Item]:
        """What arrives at a node, taken in as what is expected of each output."""
        ...

    def write_so_far(self) -> None:
        """Write it."""
        ...


def calm_hook(
    owner: Owner, flow: Flow, intake: Intake, sending: Sent, after: Sequence[tuple[int, ...]], otherwise: Hook
) -> Hook:
    """The hook; `after` are the leaves without hooks that run right after each node.

    `otherwise` is the hook of other runs: it is called where the run is not calm after all, or is over.
    """
    takes, sent, gathered = intake.takes, sending.entries, owner.gathered
    arriving, all_slots, no_views, places, separate = (
        flow.arriving,
        flow.slots,
        flow.no_views,
        flow.places,
        flow.separate,
    )
    append = gathered.ran.append

    def ran(index: int, grad_inputs: Any, grad_outputs: Any) -> None:
        if not sending.calm:
            otherwise(index, grad_inputs, grad_outputs)
            return
        try:
            outputs: list[Item] | None = None
            passing = grad_outputs[0] if len(grad_outputs) == 1 else None
            passed: Item = UNDEFINED
            if passing is not None:
                passed = sent[places[index]]
                if passed is None:
                    passed = takes[arriving[index]](passing)
                    outputs = [passed]
            elif index not in separate or not sending.are_known(index, grad_outputs):
                outputs = owner.several(index, grad_outputs)
            inputs: list[Item] = []
            for gradient, (kind, target) in zip(grad_inputs, all_slots[index]):  # noqa: B905 (a word more to read)
                if gradient is None:
                    inputs.append(UNDEFINED)
                    continue
                if gradient is passing:  # an addition hands on the very tensor that it got
                    item = passed
                    if kind != arriving[index] and kind >= 0:
                        intake.surprised = True
                elif no_views[index] or len(grad_inputs) > 1 or not isinstance(passed, Deferred):
                    item = takes[kind](gradient)
                else:
                    viewed = intake.view(gradient, passing, passed, kind)
                    no_views[index] = viewed is None
                    item = viewed or takes[kind](gradient)
                inputs.append(item)
                if target >= 0:
                    sent[target] = item
            append((index, outputs, inputs, True))
            for leaf in after[index]:
                append((leaf, None, [], True))
            if perf_counter() > owner.due:
                owner.write_so_far()
        except Exception as error:
            gathered.note(error)

    return ran
