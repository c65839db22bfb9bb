"""Which findings another seed answers, and in which words that is offered. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from gradviz.app.texts import tr
from gradviz.model import Finding


@dataclass(frozen=True)
class Offer:
    """`words` are for a button; `seed` stands in the dialog's line at first (None: what the dialog thinks best).

    `reason` says above the graph why the call failed; empty where it did not.
    """

    words: str
    seed: str | None
    reason: str = ""


def offer(finding: Finding, label: str) -> Offer | None:
    """What can be tried about a finding on call `label`; None where another seed shows nothing."""
    if finding.code == "scalar-only":
        return Offer(tr("Try ones"), "ones", tr("Call {label} failed: its root is not a single number.", label=label))
    if finding.code == "seed-shape":
        why = tr("Call {label} failed: its seed does not fit the root.", label=label)
        return Offer(tr("Try a seed that fits"), None, why)
    if finding.code == "second-time":
        why = tr("Call {label} failed: an earlier call had freed its graph.", label=label)
        return Offer(tr("Try the earlier call"), None, why)
    if finding.code == "seed-is-value":
        return Offer(tr("Try ones"), "ones")
    if finding.code == "summed-outputs":
        return Offer(tr("Try one output alone"), "one_hot(0)")
    return None
