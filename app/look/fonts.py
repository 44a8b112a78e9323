"""The few fonts of the window, all derived from the system's own or from the families that were chosen.

GUI thread.
"""

import sys

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetrics
from PySide6.QtWidgets import QApplication

from app.look.words import tr

_CHINESE = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei")
_READING, _CODE = "skein.reading-font", "skein.code-font"  # stated in one place: on the application


def choose_families(app: QObject, reading: str, code: str) -> None:
    """Sets the families for messages and code; "" or a missing one means the system's."""
    app.setProperty(_READING, _if_there(reading))
    app.setProperty(_CODE, _if_there(code))


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


def line_height(font: QFont) -> int:
    """Of a line in the user's language, whose letters may come from a taller font than this one."""
    metrics = QFontMetrics(font)
    return max(metrics.lineSpacing(), metrics.size(0, tr("Language")).height())


def tabular(font: QFont) -> QFont:
    """The same font with digits of one width, where it has them."""
    aligned = QFont(font)
    aligned.setFeature(QFont.Tag("tnum"), 1)
    return aligned


def _if_there(family: str) -> str:
    return family if family and QFontDatabase.hasFamily(family) else ""


def _with_family(font: QFont, place: str) -> QFont:
    """The system's own families stay as fallback, for characters that the chosen one lacks."""
    app = QApplication.instance()
    family = app.property(place) if app else None
    chosen = QFont(font)
    families = [*([family] if family else []), *font.families()]
    if sys.platform == "linux":
        # Where no family is named that has Chinese, Qt may take a bold face for it. An alias such as
        # "Sans Serif" would lose to those that are named.
        families[-1:] = [QFontInfo(font).family(), *_CHINESE]
    chosen.setFamilies(families)
    return chosen


def _resized(font: QFont, points: float) -> QFont:
    sized = QFont(font)
    sized.setPointSizeF(max(6.0, font.pointSizeF() + points))
    return sized
