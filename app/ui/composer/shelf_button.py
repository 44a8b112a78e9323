"""The button that chooses the shelf of a chat. GUI thread."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.fonts import small_font
from app.look.icons import icon
from app.look.plain_text import as_tab_text
from app.look.tokens import current
from app.look.words import tr

SIDE, NAME_WIDTH = 28, 140


class ShelfButton(QToolButton):
    """Shows the shelf's name, and is in colour then."""

    requested = Signal()  # clicked

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = ""
        self.setFont(small_font())
        self.setIconSize(QSize(16, 16))
        self.setFixedHeight(SIDE)
        self.setProperty("kind", "chip")
        self.setProperty("command", "chat.shelf")
        self.clicked.connect(self.open_shelves)
        self._show("")

    def open_shelves(self) -> None:
        self.requested.emit()

    def apply(self, name: str, state: str) -> None:
        """`name` is empty without a shelf; `state` is a sentence about it."""
        self._name = name
        self._show(state)

    def _show(self, state: str) -> None:
        style, words = Qt.ToolButtonStyle, as_tab_text(self._name)
        label = self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, NAME_WIDTH)
        self.setText(f" {label}" if label else "")  # the style sets no gap after the icon
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if label else style.ToolButtonIconOnly)
        self.setIcon(icon("library", current().accent if label else None))
        self.setAccessibleName(tr("Shelf of this chat: {name}", name=self._name or tr("none")))
        self.setToolTip(state or tr("Files that the model reads in this chat"))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text()) + 12 if self._name else 0
        return QSize(SIDE + words, SIDE)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.setIcon(icon("library", current().accent if self._name else None))
