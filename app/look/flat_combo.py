"""A combo box with a quiet arrow. GUI thread."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QWidget

from app.look.icons import paint_icon
from app.look.popups import stand_out
from app.look.tokens import current


class FlatCombo(QComboBox):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "flat")
        stand_out(self.view().window())
        self.setItemDelegate(QStyledItemDelegate(self))  # the usual one hears nothing of the theme

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        box = QRectF(self.width() - 20, (self.height() - 12) / 2, 12, 12)
        paint_icon(QPainter(self), "chevron-down", box, current().muted)
