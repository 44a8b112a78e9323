"""The banner of a panel that shows a recorded file, with a button back to the live one. GUI thread."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.fonts import small_font
from app.look.layouts import hbox
from app.look.painted import paint_tinted
from app.look.plain_text import PlainLabel, one_line
from app.look.quiet_button import quiet_button
from app.look.tokens import current
from app.look.words import tr

HEIGHT = 30


class RecordingBanner(QWidget):
    """Hidden while the panel is live."""

    back_requested = Signal()
    shown_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = PlainLabel(parent=self)
        self._words.setFont(small_font())
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.back = quiet_button(tr("Back to live"), self, "bar")
        self.back.setFont(small_font())
        self.back.clicked.connect(self.back_requested)
        hbox((self._words, 1), self.back, on=self, margins=(12, 2, 8, 2))
        self.setFixedHeight(HEIGHT)
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    def show_name(self, name: str) -> None:
        """Of the file; "" hides it."""
        self._words.setText(tr("Recording {name}", name=one_line(name)))
        self._words.setToolTip(self._words.text())
        self.setVisible(bool(name))
        self.shown_changed.emit()

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_tinted(self, current().warning, 0.16)
