"""The backward rule of a node: the formula with its own names, and with the numbers of this call put in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from gradviz.app.panels.soft_label import SoftLabel
from gradviz.app.texts import tr
from gradviz.rules import SlotRule

_MOST_RULES = 6


class RuleCard(QFrame):
    """One formula for each slot that leads somewhere."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "quote")
        self.setAccessibleName(tr("The rule here"))
        self._rules: tuple[SlotRule, ...] = ()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 9, 12, 9)
        self._layout.setSpacing(4)

    @property
    def rules(self) -> tuple[SlotRule, ...]:
        """What is shown."""
        return self._rules

    def set_rules(self, rules: Sequence[SlotRule]) -> None:
        """Show other rules."""
        self.setVisible(bool(rules))
        if tuple(rules) == self._rules:
            return
        self._rules = tuple(rules)
        while self._layout.count():
            item = self._layout.takeAt(0)
            widget = None if item is None else item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for rule in self._rules[:_MOST_RULES]:
            self._add(rule.notation, "value")
            for definition in rule.where:
                self._add(tr("with {definition}", definition=definition), "muted")
            if rule.numbers is not None:
                self._add(rule.numbers if "→" in rule.numbers else f"= {rule.numbers}", "strong")

    def _add(self, text: str, role: str) -> None:
        label = SoftLabel(text)
        label.setProperty("role", role)
        self._layout.addWidget(label)
