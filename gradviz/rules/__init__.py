"""The rule at a node: formulas of backward passes, written as mathematics and computed from the same text."""

from gradviz.rules.at_node import SlotRule, rules_at
from gradviz.rules.formulas import formulas

__all__ = ["SlotRule", "formulas", "rules_at"]
