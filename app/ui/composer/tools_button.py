"""The button that opens the tools of a chat. GUI thread."""

from PySide6.QtWidgets import QWidget

from app.look.fonts import small_font, tabular
from app.look.words import tr, tr_n
from app.ui.composer.choice_button import ChoiceButton


class ToolsButton(ChoiceButton):
    """Shows how many are on."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("wrench", "chat.tools", tabular(small_font()), parent)
        self._num_on = 0
        self._show()

    def open_tools(self) -> None:
        self.requested.emit()

    def apply(self, num_on: int) -> None:
        if num_on != self._num_on:
            self._num_on = num_on
            self._show()

    def _show(self) -> None:
        number = self._num_on
        self.show_choice(f"{number}" if number else "")
        on = tr_n("{n} tool is on", "{n} tools are on", number) if number else tr("none is on")
        self.setAccessibleName(tr("Tools of this chat: {state}", state=on))
        self.setToolTip(tr("Tools the model may call in this chat (Ctrl+Shift+O)"))
