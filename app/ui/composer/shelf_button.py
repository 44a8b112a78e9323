"""The button that chooses the shelf of a chat. GUI thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.look.fonts import small_font
from app.look.plain_text import as_tab_text
from app.look.words import tr
from app.ui.composer.choice_button import ChoiceButton

NAME_WIDTH = 140


class ShelfButton(ChoiceButton):
    """Shows the shelf's name."""

    END = 12

    def __init__(self, parent: QWidget) -> None:
        super().__init__("library", "chat.shelf", small_font(), parent)
        self.apply("", "")

    def apply(self, name: str, state: str) -> None:
        """`name` is empty without a shelf; `state` is a sentence about it."""
        self.show_choice(
            self.fontMetrics().elidedText(as_tab_text(name), Qt.TextElideMode.ElideRight, NAME_WIDTH)
        )
        self.setAccessibleName(tr("Shelf of this chat: {name}", name=name or tr("none")))
        self.setToolTip(state or tr("Files that the model reads in this chat"))
