"""The few fonts of the window, all derived from the system's own or from the families that were chosen.

GUI thread.
"""

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

MIN_ZOOM, MAX_ZOOM = -4, 16  # points

_READING, _CODE = "skein.reading-font", "skein.code-font"  # stated in one place: on the application


def choose_families(app: QObject, reading: str, code: str) -> None:
    """What messages and code are read in from now on; "" is the system's, and so is one that is not there."""
    app.setProperty(_READING, reading if QFontDatabase.hasFamily(reading) else "")
    app.setProperty(_CODE, code if QFontDatabase.hasFamily(code) else "")


def reading_font(zoom: int = 0) -> QFont:
    """What messages are read and written in: a point larger than the rest of the window."""
    return _resized(_with_family(QApplication.font(), _READING), 1 + zoom)


def small_font() -> QFont:
    """Quiet lines: statistics, legends, column heads."""
    return _resized(QApplication.font(), -0.5)


def code_font(zoom: int = 0) -> QFont:
    font = _with_family(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont), _CODE)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(reading_font(zoom).pointSizeF() - 1)
    return font


def tabular(font: QFont) -> QFont:
    """The same font with digits of one width, where it has them."""
    aligned = QFont(font)
    aligned.setFeature(QFont.Tag("tnum"), 1)
    return aligned


def _with_family(font: QFont, place: str) -> QFont:
    """The system's own families stay behind the chosen one, for the characters that it has not."""
    app = QApplication.instance()
    family = app.property(place) if app else None
    chosen = QFont(font)
    if family:
        chosen.setFamilies([family, *font.families()])
    return chosen


def _resized(font: QFont, points: float) -> QFont:
    sized = QFont(font)
    sized.setPointSizeF(max(6.0, font.pointSizeF() + points))
    return sized
