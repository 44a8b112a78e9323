"""An integer field with grouped thousands, and a word for zero. GUI thread."""

from PySide6.QtCore import QRectF, QTimer
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox, QWidget

from app.look.fonts import tabular
from app.look.icons import paint_icon
from app.look.tokens import current
from app.look.words import locale

WIDTH, HEIGHT = 150, 28
ARROW = 12
INSET = 6


class NumberField(QSpinBox):
    def __init__(self, name: str, low: int, high: int, step: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(low, high)
        self.setSingleStep(step)
        dress_number(self)
        self.setGroupSeparatorShown(True)
        self.setAccessibleName(name)

    def set_word_for_zero(self, word: str) -> None:
        if self.specialValueText() != word:
            self.setSpecialValueText(word)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Typing at once replaces the content, be it a word."""
        super().focusInEvent(event)
        QTimer.singleShot(0, self.selectAll)  # after the click that brought the focus

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_arrows(self, self.stepEnabled())


def dress_number(box: QAbstractSpinBox) -> None:
    """Styles a number field."""
    box.setLocale(locale())
    box.setFixedSize(WIDTH, HEIGHT)
    box.setFont(tabular(box.font()))
    box.lineEdit().setTextMargins(INSET, 0, 0, 0)


def show_number(box: QSpinBox | QDoubleSpinBox, value: float | None) -> None:
    """None is its lowest value. Emits no signal, since the user did not choose it."""
    shown = box.minimum() if value is None else value
    if shown != box.value():  # else a half-typed number would be lost
        box.blockSignals(True)
        box.setValue(shown)  # type: ignore[arg-type]
        box.blockSignals(False)


def paint_arrows(box: QWidget, possible: QAbstractSpinBox.StepEnabledFlag) -> None:
    """A style sheet has arrows from files only, in one colour."""
    step = QAbstractSpinBox.StepEnabledFlag
    painter = QPainter(box)
    for flag, name, y in ((step.StepUpEnabled, "chevron-up", 3), (step.StepDownEnabled, "chevron-down", 14)):
        colour = current().muted if flag in possible else current().hairline
        paint_icon(painter, name, QRectF(box.width() - INSET - ARROW, y, ARROW, ARROW), colour)
