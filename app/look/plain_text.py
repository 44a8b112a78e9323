"""Guards the places where Qt might take plain text for HTML: model names, titles and errors.

Pure functions, labels for plain text only, and search fields (GUI thread).
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QWidget

from app.look.tokens import current

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_ALIGN = ("", " align='right'")


def one_line(text: str) -> str:
    """Without line breaks, terminal escapes and direction tricks: fit for a title or a menu."""
    return " ".join(_CONTROL.sub("", text).split())


def as_tooltip(text: str) -> str:
    return "<br>".join(html.escape(_CONTROL.sub("", line)) for line in text.splitlines())


def as_table(rows: Sequence[tuple[str, ...]], below: Sequence[str] = ()) -> str:
    """A tooltip: the second column is of numbers. The lines below are as wide as they need to be."""
    cells = "".join(
        "<tr>"
        + "".join(f"<td{_ALIGN[index == 1]}>{as_tooltip(text)}</td>" for index, text in enumerate(row))
        + "</tr>"
        for row in rows
    )
    lines = "".join(f"<p style='margin: 6px 2px 2px 2px'>{as_tooltip(line)}</p>" for line in below if line)
    return f"<table cellspacing='0' cellpadding='2'>{cells}</table>{lines}"


def as_tab_text(text: str) -> str:
    """An ampersand in a tab or a menu would become a mnemonic."""
    return one_line(text).replace("&", "&&")


def short_path(path: Path) -> str:
    """Below the user's own folder, as a shell would write it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)


class PlainLabel(QLabel):
    """`tone` is "", "muted", "warning" or "danger"; the style sheet knows the colours."""

    def __init__(
        self, text: str = "", parent: QWidget | None = None, tone: str = "", wraps: bool = False
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setWordWrap(wraps)
        self.setProperty("tone", tone)

    def say(self, text: str) -> None:
        """Takes room only while there is a text."""
        self.setText(text)
        self.setVisible(bool(text))

    def set_tone(self, tone: str) -> None:
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)


class ElidedLabel(PlainLabel):
    """A single line; a text that does not fit is elided and shown in full as a tooltip."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        tone: str = "",
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:
        super().__init__(text, parent, tone)
        self._elide = elide
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def setText(self, text: str) -> None:
        super().setText(text)
        self._show_tip()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_tip()

    def _show_tip(self) -> None:
        # Without a text no size is asked for: a style sheet would undo a font that is set after that.
        is_cut = bool(self.text()) and self.sizeHint().width() > self.width()
        self.setToolTip(as_tooltip(self.text()) if is_cut else "")

    def paintEvent(self, _event: QPaintEvent) -> None:
        text = self.fontMetrics().elidedText(self.text(), self._elide, self.width())
        painter = QPainter(self)
        if tone := self.property("tone"):  # a style sheet's colour is not in the palette
            painter.setPen(QColor(getattr(current(), tone)))
        painter.drawText(self.rect(), self.alignment(), text)


def search_field(placeholder: str, parent: QWidget, name: str = "") -> QLineEdit:
    """`name` is for screen readers, if the placeholder is too short for them."""
    field = QLineEdit(parent)
    field.setPlaceholderText(placeholder)
    field.setAccessibleName(name or placeholder)
    field.setClearButtonEnabled(True)
    return field


def heading(text: str, parent: QWidget, wraps: bool = False, points: int = 0) -> PlainLabel:
    """`points`: how much larger than its surroundings."""
    label = PlainLabel(text, parent, wraps=wraps)
    label.setFont(heading_font(label.font(), points))
    return label


def heading_font(font: QFont, points: int = 0) -> QFont:
    font = QFont(font)
    if points:
        font.setPointSizeF(font.pointSizeF() + points)
    font.setWeight(QFont.Weight.DemiBold)
    return font
