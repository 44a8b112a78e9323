"""The small buttons above a panel's content. GUI thread."""

from PySide6.QtWidgets import QToolButton, QWidget

from app.look.fonts import small_font


class ChipButton(QToolButton):
    def __init__(self, text: str, tip: str, parent: QWidget, *, is_checkable: bool = False) -> None:
        super().__init__(parent)
        self.setText(text)
        self.setToolTip(tip)
        self.setCheckable(is_checkable)
        self.setProperty("kind", "chip")
        self.setFont(small_font())
