"""A tool in the settings: what it does, and whether it may run without asking. GUI thread."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.look.flat_combo import FlatCombo
from app.look.fonts import small_font
from app.look.layouts import hbox, vbox
from app.look.plain_text import ElidedLabel, PlainLabel, as_tooltip, one_line
from app.look.words import mark, tr
from app.tools.tool import Approval, Tool
from app.ui.base.tool_texts import sentence_of, title_of

WIDTH = 150
CHOICES = (
    (Approval.ASK, mark("Ask")),
    (Approval.ALWAYS, mark("Always allow")),
    (Approval.NEVER, mark("Never")),
)


class ApprovalRow(QWidget):
    chosen = Signal(object, object)  # the Tool, an Approval

    def __init__(self, tool: Tool, parent: QWidget) -> None:
        super().__init__(parent)
        self._tool = tool
        self._title = ElidedLabel(parent=self)
        self._description = ElidedLabel(parent=self, tone="muted", elide=Qt.TextElideMode.ElideRight)
        self.warning = PlainLabel(parent=self, tone="warning", wraps=True)
        for label in (self._description, self.warning):
            label.setFont(small_font())
        self.choice = FlatCombo(self)
        self.choice.setFixedWidth(WIDTH)
        for approval, label_text in CHOICES:
            if not (tool.always_asks and approval is Approval.ALWAYS):
                self.choice.addItem(tr(label_text), approval)
        self.choice.activated.connect(self._on_chosen)
        self.choice.installEventFilter(self)
        words = vbox(self._title, self._description, self.warning, spacing=1)
        hbox((words, 1), self.choice, on=self, margins=(0, 6, 0, 6), spacing=12)

    def _on_chosen(self, index: int) -> None:
        self.chosen.emit(self._tool, Approval(self.choice.itemData(index)))  # Qt keeps it as a text

    def apply(self, tool: Tool, approval: Approval) -> None:
        self._tool = tool
        title, sentence = title_of(tool), sentence_of(tool)
        self._title.setText(title)
        self._description.setText(one_line(sentence))
        self.setToolTip(as_tooltip(f"{tool.name}\n{sentence}"))
        self.choice.setCurrentIndex(self.choice.findData(approval))
        self.choice.setAccessibleName(tr("Approval of {tool}", tool=title))
        is_risky = tool.writes and approval is Approval.ALWAYS
        self.warning.setText(tr("It can make changes, and runs in every chat without asking."))
        self.warning.setVisible(is_risky)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """The wheel scrolls the page, unless the choice has the focus."""
        return event.type() == QEvent.Type.Wheel and not self.choice.hasFocus()
