"""What is being recorded: for how long, how loud, and the buttons that end it. GUI thread."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.buttons import IconButton, IconLabel, quiet_button
from app.look.fonts import small_font, tabular
from app.look.layouts import hbox
from app.look.plain_text import PlainLabel
from app.look.tokens import current
from app.look.words import tr

SIDE = 22
METER_HEIGHT = 6


class RecordingBar(QWidget):
    stopped = Signal()  # what was recorded is attached
    discarded = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_filled = False
        self.hide()

    def _fill(self) -> None:
        """Before the first recording: in most chats there is none."""
        self._is_filled = True
        self.time = PlainLabel(parent=self)
        self.time.setFont(tabular(small_font()))
        self.meter = LevelMeter(self)
        self.stop = quiet_button(tr("Stop and attach"), self, "bar")
        self.cross = IconButton("x", tr("Discard the recording"), SIDE, self, icon_side=14)
        icon = IconLabel(16, self, "mic", "danger")
        hbox(
            icon, self.time, (self.meter, 1), self.stop, self.cross, on=self, margins=(6, 0, 0, 0), spacing=8
        )
        self.stop.clicked.connect(self.stopped)
        self.cross.clicked.connect(self.discarded)
        QWidget.setTabOrder(self, self.stop)
        QWidget.setTabOrder(self.stop, self.cross)

    def apply(self, is_open: bool, seconds: float | None, level: float) -> None:
        """`seconds` is None while the microphone is being opened."""
        if not is_open:
            self.hide()
            return
        if not self._is_filled:
            self._fill()
        self.time.setText(tr("Opening the microphone…") if seconds is None else _clock(seconds))
        self.stop.setEnabled(seconds is not None)
        self.meter.show_level(level)
        if seconds is None:
            self.setAccessibleName(tr("Recording a sound"))
        self.show()


class LevelMeter(QWidget):
    """How loud it is now, from left to right."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.level = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_level(self, level: float) -> None:
        if level != self.level:
            self.level = level
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(80, METER_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        room = QRectF(self.rect())
        for width, colour in (
            (room.width(), current().raised),
            (room.width() * self.level, current().accent),
        ):
            room.setWidth(width)
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(room, METER_HEIGHT / 2, METER_HEIGHT / 2)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
