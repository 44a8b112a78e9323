"""A text below its title: expanded while it is written, collapsed afterwards. GUI thread."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.fonts import small_font
from app.look.icons import icon
from app.look.tokens import current
from app.look.words import tr
from app.ui.message.markdown_column import MarkdownColumn
from app.ui.message.text_part import TextPart

INDENT = 16
HEADER = 28
LINE = 2


class FoldedSection(QWidget):
    height_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._source = ""
        self._is_growing = False
        self._is_open: bool | None = None  # what the user chose; None: nothing yet
        self._column: MarkdownColumn | None = None
        self._zoom = 0
        self._is_plain = False
        self.header = QToolButton(self)
        self.header.setFont(small_font())
        self.header.setIconSize(QSize(14, 14))
        self.header.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.header.setProperty("kind", "chip")
        self.header.setStyleSheet("QToolButton { padding: 3px 6px 3px 2px; }")
        self.header.clicked.connect(self.toggle)

    @property
    def is_open(self) -> bool:
        return self._is_growing if self._is_open is None else self._is_open

    def apply(self, title: str, source: str, *, is_growing: bool) -> None:
        if not source.startswith(self._source):
            self._is_open = None  # of another turn
        self._source = source
        self._is_growing = is_growing
        self.header.setText(title)
        self._show_state()

    def text_parts(self) -> list[TextPart]:
        return self._column.text_parts() if self._column and self.is_open else []

    def toggle(self) -> None:
        self._is_open = not self.is_open
        self._show_state()
        self.height_changed.emit()

    def set_plain(self, is_plain: bool) -> None:
        self._is_plain = is_plain
        if self._column:
            self._column.set_plain(is_plain)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        if self._column:
            self._column.set_zoom(zoom - 1)

    def arrange(self, width: int) -> int:
        self.header.adjustSize()
        self.header.setGeometry(0, 0, min(width, self.header.sizeHint().width()), HEADER)
        height = HEADER
        if self.is_open and self._column:
            self._column.move(INDENT, HEADER + 6)
            height += 6 + self._column.arrange(width - INDENT)
        self.setFixedSize(width, height)
        return height

    def _show_state(self) -> None:
        if self.is_open:
            column = self._shown_column()
            if self._is_growing:
                column.show_growing(self._source)
            else:
                column.show_whole(self._source)
        if self._column:
            self._column.setVisible(self.is_open)
        self.header.setAccessibleName(self.header.text())
        self.header.setAccessibleDescription(tr("Expanded") if self.is_open else tr("Collapsed"))
        self.header.setIcon(icon("chevron-down" if self.is_open else "chevron-right"))

    def _shown_column(self) -> MarkdownColumn:
        """Created on first use: most are never expanded."""
        if self._column is None:
            self._column = MarkdownColumn(self)
            self._column.set_zoom(self._zoom - 1)
            self._column.set_plain(self._is_plain)
            self._column.height_changed.connect(self.height_changed)
        return self._column

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.is_open:
            x = INDENT // 2 - LINE // 2
            QPainter(self).fillRect(
                x, HEADER + 4, LINE, self.height() - HEADER - 4, QColor(current().hairline)
            )
