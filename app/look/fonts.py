"""The few fonts of the window: Inter and JetBrains Mono, which come with Skein, or those that were chosen.

GUI thread.
"""

import sys

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetrics
from PySide6.QtWidgets import QAbstractScrollArea, QApplication

from app.look.words import tr
from app.system.paths import resources_dir

INTERFACE_FAMILY, CODE_FAMILY = "Inter", "JetBrains Mono"
SYSTEM = "system"  # in place of a family: the system's own
READING_POINTS, CODE_POINTS = 2.0, 1.0  # larger than the rest of the window
FONTS_DIR = resources_dir() / "fonts"

_CHINESE = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei")
COLUMN_CHARS = {"normal": 76, "wide": 110, "full": 0}  # of messages, by the setting; 0: as wide as the page
_COLUMN = "skein.column"
_READING, _CODE = "skein.reading-font", "skein.code-font"  # stated in one place: on the application


def add_shipped_fonts() -> None:
    for path in sorted(FONTS_DIR.glob("*.?tf")):
        QFontDatabase.addApplicationFont(str(path))


def choose_interface_family(family: str) -> None:
    """ "" means Inter. Before the first widget is created."""
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    QApplication.setFont(_with_family(system, "" if family == SYSTEM else INTERFACE_FAMILY))


def choose_families(app: QObject, reading: str, code: str) -> None:
    """Sets the families for messages and code. "" or a missing one: Inter or JetBrains Mono."""
    app.setProperty(_READING, _if_there(reading, INTERFACE_FAMILY))
    app.setProperty(_CODE, _if_there(code, CODE_FAMILY))


def choose_column(app: QObject, choice: str) -> None:
    """How wide the column of messages may be: normal, wide or full."""
    app.setProperty(_COLUMN, COLUMN_CHARS[choice])


def column_chars() -> int:
    app = QApplication.instance()
    chosen = app.property(_COLUMN) if app else None
    return COLUMN_CHARS["normal"] if chosen is None else int(chosen)


def reading_font(zoom: int = 0) -> QFont:
    """What messages are read and written in."""
    return _resized(_chosen(QFontDatabase.SystemFont.GeneralFont, _READING), READING_POINTS + zoom)


def small_font() -> QFont:
    """Quiet lines: statistics, legends, column heads."""
    return _resized(QApplication.font(), -0.5)


def code_font(zoom: int = 0) -> QFont:
    font = _resized(_chosen(QFontDatabase.SystemFont.FixedFont, _CODE), CODE_POINTS + zoom)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFeature(QFont.Tag("calt"), 0)  # no ligatures: code shows the characters that are in it
    return font


def line_height(font: QFont) -> int:
    """In the user's language, whose letters may come from a taller font than this one."""
    metrics = QFontMetrics(font)
    return max(metrics.lineSpacing(), metrics.size(0, tr("Language")).height())


def tabular(font: QFont) -> QFont:
    """The same font with digits of one width, where it has them."""
    aligned = QFont(font)
    aligned.setFeature(QFont.Tag("tnum"), 1)
    return aligned


def set_text_font(editor: QAbstractScrollArea, font: QFont) -> None:
    """Sets the viewport's font, too, in which Qt draws the placeholder: it would stay as first shown."""
    is_new = font != editor.font()
    editor.setFont(font)
    if is_new and editor.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        editor.viewport().setFont(font)


def _if_there(family: str, otherwise: str) -> str:
    if family == SYSTEM:
        return ""
    return family if family and QFontDatabase.hasFamily(family) else otherwise


def _chosen(system: QFontDatabase.SystemFont, place: str) -> QFont:
    app = QApplication.instance()
    font = _with_family(QFontDatabase.systemFont(system), app.property(place) or "" if app else "")
    font.setPointSizeF(QApplication.font().pointSizeF())
    return font


def _with_family(font: QFont, family: str) -> QFont:
    """The system's own families stay as fallback, for characters that the chosen one lacks."""
    chosen = QFont(font)
    families = [*([family] if family else []), *font.families()]
    if sys.platform == "linux":
        # Where no family is named that has Chinese, Qt may take a bold face for it. An alias such as
        # "Sans Serif" would lose to those that are named.
        families[-1:] = [QFontInfo(font).family(), *_CHINESE]
    chosen.setFamilies(families)
    if family == INTERFACE_FAMILY:
        # Its contextual alternates take brackets and dashes ten times as long, and draw an arrow for "->".
        chosen.setFeature(QFont.Tag("calt"), 0)
    return chosen


def _resized(font: QFont, points: float) -> QFont:
    sized = QFont(font)
    sized.setPointSizeF(max(6.0, font.pointSizeF() + points))
    return sized
