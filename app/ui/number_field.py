"""A whole number with its thousands apart, and a word for zero. GUI thread."""

from PySide6.QtCore import QLocale, QRectF, QTimer
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractSpinBox, QSpinBox, QWidget

from app.look.fonts import tabular
from app.look.icons import paint_icon
from app.look.tokens import current

WIDTH, HEIGHT = 150, 28
ARROW = 12
INSET = 6


class NumberField(QSpinBox):
    def __init__(self, name: str, low: int, high: int, step: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(low, high)
        self.setSingleStep(step)
        self.setLocale(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))  # as all our figures
        self.setGroupSeparatorShown(True)
        self.setFixedSize(WIDTH, HEIGHT)
        self.setFont(tabular(self.font()))
        self.lineEdit().setTextMargins(INSET, 0, 0, 0)
        self.setAccessibleName(name)

    def set_word_for_zero(self, word: str) -> None:
        if self.specialValueText() != word:
            self.setSpecialValueText(word)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """A number typed at once takes the place of what stands there, be it a word."""
        super().focusInEvent(event)
        QTimer.singleShot(0, self.selectAll)  # after the click that brought the focus

    def paintEvent(self, event: QPaintEvent) -> None:
        """A style sheet has arrows from files only, in one colour."""
        super().paintEvent(event)
        step = QAbstractSpinBox.StepEnabledFlag
        painter = QPainter(self)
        for flag, name, y in (
            (step.StepUpEnabled, "chevron-up", 3),
            (step.StepDownEnabled, "chevron-down", 14),
        ):
            colour = current().muted if flag in self.stepEnabled() else current().hairline
            paint_icon(painter, name, QRectF(self.width() - INSET - ARROW, y, ARROW, ARROW), colour)
