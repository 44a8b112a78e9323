"""Buttons of the composer that show what a chat has chosen. GUI thread."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.fonts import small_font, tabular
from app.look.icons import icon
from app.look.plain_text import as_tab_text
from app.look.tokens import current
from app.look.words import tr, tr_n

SIDE = 28


class ChoiceButton(QToolButton):
    """An icon; with a choice its label beside it, and in colour."""

    requested = Signal()  # clicked
    END = 10  # pixels after the label

    def __init__(self, icon_name: str, command: str, font: QFont, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self.setFont(font)
        self.setIconSize(QSize(16, 16))
        self.setFixedHeight(SIDE)
        self.setProperty("kind", "chip")
        self.setProperty("command", command)
        self.clicked.connect(lambda: self.requested.emit())

    def show_choice(self, label: str) -> None:
        """Empty: nothing is chosen."""
        style = Qt.ToolButtonStyle
        self.setText(f" {label}" if label else "")  # the style sets no gap after the icon
        self.setToolButtonStyle(style.ToolButtonTextBesideIcon if label else style.ToolButtonIconOnly)
        self._colour()
        self.updateGeometry()

    def _colour(self) -> None:
        self.setIcon(icon(self._icon_name, current().accent if self.text() else None))

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text()) + self.END if self.text() else 0
        return QSize(SIDE + words, SIDE)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour()


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
