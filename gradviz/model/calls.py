"""What happened in one way into the engine: roots, seeds, executions, accumulations, error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gradviz.model.graph import Place
from gradviz.model.tensors import TensorValue

Detail = Literal["full", "summary", "none"]
Gradient = TensorValue | None  # None is "undefined", which is not zero


@dataclass(frozen=True, slots=True)
class Root:
    """Where a call starts: a tensor or a GradientEdge, with its seed (`gradient=` / `grad_outputs`).

    `node` is None when the root has no `grad_fn`. `value` is the root's forward value where it is a tensor.
    """

    kind: Literal["tensor", "edge"]
    name: str | None
    node: int | None
    output_nr: int
    shape: tuple[int, ...] | None
    dtype: str | None
    seed: Gradient
    seed_given: bool
    value: TensorValue | None = None
    seed_name: str | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """An element of `inputs=`: the only places that receive a gradient."""

    name: str | None
    node: int | None
    output_nr: int


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a node. `grad_outputs` is what its backward got, per output; `grad_inputs` what left, per slot.

    `arrived` is there only where a tensor hook of the user's changed it: what arrived before the hook.
    `computed` is there only where a hook of the user's on the node changed what left it: what the node itself gave.
    `finished` is False for the node that failed: nothing left it.
    """

    order: int
    node: int
    grad_outputs: tuple[Gradient, ...]
    grad_inputs: tuple[Gradient, ...]
    arrived: tuple[Gradient, ...] | None = None
    finished: bool = True
    computed: tuple[Gradient, ...] | None = None


@dataclass(frozen=True, slots=True)
class Accumulation:
    """`.grad` of a leaf or a retained tensor in one call: before, what came, after, and when the call returned.

    `order` is the execution's place in the engine's order at which it happened, None where it was only measured
    around the call. `output_nr` tells the outputs of a node apart (0 for a leaf).
    """

    name: str | None
    node: int
    output_nr: int
    before: Gradient
    incoming: Gradient
    after: Gradient
    left: Gradient
    order: int | None = None


@dataclass(frozen=True, slots=True)
class CallError:
    """An exception that left the call; `place` is the innermost line of the user's on its way.

    When a saved tensor was changed in place: `saved` is its name at the failed node (`self`), `storage` the serial
    number of its memory as in `Binding.storage`, so that the line that wrote into it can be found.
    """

    type: str
    message: str
    place: Place | None = None
    saved: str | None = None
    storage: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """The head of a call: all but its executions and accumulations (see `CallDetail`).

    `api` is the dotted public name (`torch.Tensor.backward`); `group` the public function that started this call on
    the user's behalf (`torch.autograd.functional.jacobian`), if any. `parent` is the number of the enclosing call.
    `first_sequence` and `last_sequence` bracket the nodes that a `create_graph` call made.
    """

    number: int
    label: str
    api: str
    parent: int | None
    parent_node: int | None
    engine: bool
    what_if: bool
    complete: bool
    detail: Detail
    place: Place | None
    stack: tuple[Place, ...]
    thread: str
    retain_graph: bool
    create_graph: bool
    accumulates: bool
    roots: tuple[Root, ...]
    inputs: tuple[Input, ...] | None
    node_count: int
    error: CallError | None
    failed_node: int | None
    group: str | None = None
    batched: bool = False
    seconds: float | None = None
    note: str | None = None

    @property
    def whole(self) -> bool:
        """Whether its graph was kept, or there is none; else it is a summary, or no more than this head."""
        return self.detail == "full" or not self.engine


@dataclass(frozen=True)
class CallDetail:
    """What moved in a call. `returned` is None unless `torch.autograd.grad` (or the like) returned values."""

    executions: tuple[Execution, ...] = ()
    accumulations: tuple[Accumulation, ...] = ()
    retained: tuple[Accumulation, ...] = ()
    returned: tuple[Gradient, ...] | None = None
