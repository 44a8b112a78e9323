"""The few fonts of the window, all derived from the system's own.

GUI thread.
"""

from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

MIN_ZOOM, MAX_ZOOM = -4, 16  # points


def reading_font(zoom: int = 0) -> QFont:
    """What messages are read and written in: a point larger than the rest of the window."""
    return _resized(QApplication.font(), 1 + zoom)


def small_font() -> QFont:
    """Quiet lines: statistics, legends, column heads."""
    return _resized(QApplication.font(), -0.5)


def code_font(zoom: int = 0) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(reading_font(zoom).pointSizeF() - 1)
    return font


def tabular(font: QFont) -> QFont:
    """The same font with digits of one width, where it has them."""
    aligned = QFont(font)
    aligned.setFeature(QFont.Tag("tnum"), 1)
    return aligned


def _resized(font: QFont, points: float) -> QFont:
    sized = QFont(font)
    sized.setPointSizeF(max(6.0, font.pointSizeF() + points))
    return sized
