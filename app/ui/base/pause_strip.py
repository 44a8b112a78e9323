"""The strip across the window that shows that all chats are paused, with buttons to resume. GUI thread."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.look.buttons import IconLabel, quiet_button
from app.look.layouts import hbox
from app.look.painted import paint_tinted
from app.look.plain_text import PlainLabel
from app.look.tokens import current
from app.look.words import mark, sentences, tr, tr_said
from app.protocol.report import PauseState

HEIGHT = 38
HIDE_AFTER_MS = 250  # a step between two pauses is no reason to jump
PAUSED = mark("All chats are paused.")


class PauseStrip(QWidget):
    step_requested = Signal()
    resume_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = PlainLabel(tr(PAUSED), self)
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.step = self._button(tr("Step"), tr("Run one step, then pause again (F10)"))
        self.resume = self._button(tr("Resume"), tr("Resume computing (F5)"))
        self.step.setProperty("command", "engine.step")
        self.resume.setProperty("command", "engine.resume")
        self.step.clicked.connect(self.step_requested)
        self.resume.clicked.connect(self.resume_requested)
        self._leave = QTimer(self, singleShot=True, interval=HIDE_AFTER_MS)
        self._leave.timeout.connect(self.hide)
        mark = IconLabel(16, self, "pause", "warning")
        hbox(mark, (self._words, 1), self.step, self.resume, on=self, margins=(16, 0, 12, 0))
        self.setFixedHeight(HEIGHT)
        self.setAccessibleName(tr("Paused"))
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    def apply(self, pause: PauseState | None) -> None:
        if pause:
            self._leave.stop()
            self._words.setText(sentences(tr(PAUSED), tr_said(pause.reason)))
            self.setAccessibleDescription(self.text)
            self.show()
        elif self.isVisible() and not self._leave.isActive():
            self._leave.start()

    def _button(self, text: str, tip: str) -> QPushButton:
        button = quiet_button(text, self, "bar")
        button.setToolTip(tip)
        return button

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_tinted(self, current().warning, 0.12)
