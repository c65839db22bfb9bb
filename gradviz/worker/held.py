"""A call at which other seeds can be tried: its graph, its roots, and the script's variables as they are there."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from gradviz.errors import SeedError
from gradviz.store.writer import Writer
from gradviz.texts import tr
from gradviz.worker.calls import Active, Scribe
from gradviz.worker.entry import Entry
from gradviz.worker.heads import is_tensor
from gradviz.worker.identity import Identities
from gradviz.worker.names import Names, names_at, reached
from gradviz.worker.reading import dtype_name, safe_shape
from gradviz.worker.seeds import Target
from gradviz.worker.trace import Tracer
from gradviz.worker.userfiles import UserFiles
from gradviz.worker.walk import Walk, node_of, walk

Elsewhere = Callable[[str], tuple[Scribe, Writer]]  # a scribe that knows all and writes a what-if to a file
_LISTED = 5
NODE = "#"  # a root given as `#12` or `#12:1`: output of a node of the recording
_torch: Any = torch


def held_call(active: Active, known: Knowledge, elsewhere: Elsewhere, put_back_random: Callable[[], None]) -> HeldCall:
    """The call that the recorder is about to run, with all that the recorder knows."""
    rank, entry = active.rank, active.entry
    found = active.walk
    if rank.detail != "full":
        # What is recorded in brief has no numbers and, in a summary, no nodes but leaves.
        found = walk([node_of(root)[0] for root in entry.outputs], None, known.max_nodes)
    identities, tracer = known.identities, known.tracer
    return HeldCall(
        number=rank.number,
        label=rank.label,
        entry=entry,
        walk=found,
        names=lambda: names_at(entry.frame, known.files),
        scribe=elsewhere,
        first_new_node=identities.count,
        is_hooked=lambda node: identities.read(node)[2],
        is_user_file=known.files.__contains__,
        retained=lambda: [tensor for tensor, _ in identities.retained.alive()],
        site=lambda node: None if tracer is None else tracer.site(node._sequence_nr()),
        put_back_random=put_back_random,
    )


@dataclass(frozen=True)
class Knowledge:
    """What a recorder shares with the experiments on its calls."""

    identities: Identities
    files: UserFiles
    tracer: Tracer | None
    max_nodes: int


@dataclass
class HeldCall:
    """The call. `first_new_node` is the id that the next node will get that no call has met yet."""

    number: int
    label: str
    entry: Entry
    walk: Walk
    names: Callable[[], Names]
    scribe: Elsewhere
    first_new_node: int
    is_hooked: Callable[[Any], bool]  # whether the script has set a tensor hook at a node
    is_user_file: Callable[[str], bool]
    retained: Callable[[], list[Any]]  # all tensors that retain their gradient
    site: Callable[[Any], Any]  # where a node was made (trace.Site), None where that is not known
    put_back_random: Callable[[], None]  # the random states of the script's start

    @cached_property
    def variables(self) -> dict[str, Any]:
        """The script's variables in sight of the call."""
        return self.names().variables()

    @cached_property
    def tensors(self) -> dict[str, Any]:
        """Name -> tensor: all that the script can name at the call."""
        return self.names().tensors()

    # -- roots and inputs ------------------------------------------------------------------------------------------

    def root(self, text: str | None, position: int = 0) -> Any:
        """The tensor or GradientEdge that a root's text means; None is the call's own root at `position`.

        Raises:
            SeedError: there is none of that name, or no gradient can start there.
        """
        if text is None:
            if position >= len(self.entry.outputs):
                raise SeedError(tr("The call has {n} roots.", n=len(self.entry.outputs)))
            return self._started(self.entry.outputs[position], tr("The call's root"))
        return self._started(self.find(text), repr(text))

    def find(self, text: str) -> Any:
        """The tensor of a name, or the GradientEdge of a node.

        Raises:
            SeedError: there is none.
        """
        if text.startswith(NODE):
            return self._edge(text)
        if text in self.tensors:
            return self.tensors[text]
        found = reached(text, self.variables)  # a longer name than the one it is listed under
        if isinstance(found, torch.Tensor):
            return found
        for position, root in enumerate(self.entry.outputs):
            if text in ("root", f"root[{position}]") and text not in self.variables:
                return root
        near = difflib.get_close_matches(text, self.tensors, _LISTED) or list(self.tensors)[:_LISTED]
        listed = ", ".join(near)
        raise SeedError(
            tr("The script has no tensor named {name!r} at this call. Tensors here: {names}.", name=text, names=listed)
            if near
            else tr("The script has no tensor named {name!r} at this call.", name=text)
        )

    def _edge(self, text: str) -> Any:
        number, _, output = text.removeprefix(NODE).partition(":")
        try:
            wanted, output_nr = int(number), int(output or 0)
        except ValueError:
            raise SeedError(tr("{text!r} names no node; write #12 or #12:1.", text=text)) from None
        if not hasattr(_torch.autograd.graph, "GradientEdge"):
            raise SeedError(tr("Starting at a node needs torch 2.2 or newer; name a tensor of the script instead."))
        for at, node in zip(self.walk.ids, self.walk.nodes, strict=False):
            if at == wanted and output_nr < max(len(node._input_metadata), 1):
                return _torch.autograd.graph.GradientEdge(node, output_nr)
        raise SeedError(tr("The graph of this call has no node {text}.", text=text))

    def _started(self, root: Any, what: str) -> Any:
        node, _ = node_of(root)
        if node is None:
            raise SeedError(
                tr("{what} has no grad_fn and does not require grad: no gradient can start there.", what=what)
            )
        return root

    def target(self, root: Any) -> Target:
        """What a seed of this root must fit."""
        if is_tensor(root):
            return Target(safe_shape(root), root.dtype, root.device, root)
        node, output_nr = node_of(root)
        if hasattr(node, "variable"):
            return self.target(node.variable)
        metadata = node._input_metadata[output_nr]
        return Target(safe_shape(metadata), metadata.dtype, torch.device(metadata.device))

    def name_of(self, tensor: Any) -> str | None:
        """The name of a tensor object, None when the script has none for it."""
        return next((name for name, found in self.tensors.items() if found is tensor), None)

    def listed(self) -> list[dict[str, Any]]:
        """The tensors that can be roots or inputs, as small JSON values."""
        roots = [id(root) for root in self.entry.outputs]
        found = []
        for name, tensor in self.tensors.items():
            if not tensor.requires_grad:
                continue
            grad_fn = None if tensor.grad_fn is None else tensor.grad_fn.name()
            shape, dtype = safe_shape(tensor), dtype_name(tensor.dtype)
            facts = {"name": name, "shape": shape, "dtype": dtype, "is_leaf": tensor.is_leaf, "grad_fn": grad_fn}
            found.append({**facts, "is_root": id(tensor) in roots})
        return found
