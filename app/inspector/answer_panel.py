"""What the panels about one answer have in common: its tokens, and why there are none. GUI thread."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.inspector.answer_finder import AnswerFinder, AnswerSource
from app.inspector.dock_panel import DockPanel
from app.inspector.recording import Recording
from app.look.fonts import small_font, tabular
from app.look.layouts import STRETCH, vbox
from app.look.plain_text import ElidedLabel, PlainLabel, heading_font
from app.look.words import tr, tr_said

MIN_HEAD = 48  # pixels of a title


class AnswerPanel(DockPanel):
    CHOOSE = NO_MODEL = RECORDED = ""  # what it says without an answer, an engine, or of a recording; marked

    answer_wanted = Signal(str)  # chat_id: the window calls `show_answer` with the chat's newest answer
    requested = Signal(object)  # Request
    aborted = Signal(str)  # request_id

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self._has_engine = True
        self._wanted_seq_id: int | None = None  # selected while this panel was hidden
        self.finder = AnswerFinder(recording, self)
        self.finder.commanded.connect(self.commanded)
        self.finder.requested.connect(self.requested)
        self.finder.aborted.connect(self.aborted)
        self.head = ElidedLabel("", self, elide=Qt.TextElideMode.ElideRight)
        self.head.setFont(heading_font(self.head.font()))
        self.head.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.head.setMinimumWidth(MIN_HEAD)
        self.figures = PlainLabel(parent=self, tone="muted")
        self.figures.setFont(tabular(small_font()))
        self.again = QPushButton(tr("Recompute"), self)
        self.again.clicked.connect(self._on_again)

    def show_answer(self, source: AnswerSource) -> None:
        raise NotImplementedError

    def set_engine(self, has_engine: bool) -> None:
        """Whether there is an engine to ask. The recording outlives it."""
        self._has_engine = has_engine
        self.reset()

    def draw(self) -> None:
        if self._wanted_seq_id is not None:
            self._find_answer(self._wanted_seq_id)
        self.finder.read_on()

    def reset(self) -> None:
        self._wanted_seq_id = None
        self.finder.clear(self.recording)

    def select_sequence(self, seq_id: int) -> None:
        self._wanted_seq_id = seq_id
        if self.isVisible():
            self.draw()

    def showEvent(self, event: QShowEvent) -> None:
        self.finder.come_back()
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.finder.abort()

    def _find_answer(self, seq_id: int) -> None:
        """The newest one of this sequence."""
        self._wanted_seq_id = None
        slots = self.recording.newest.slots if self.recording.newest else ()
        chat_id = next((slot.chat_id for slot in slots if slot.seq_id == seq_id), None)
        if chat_id:
            self.answer_wanted.emit(chat_id)

    @Slot()
    def _on_again(self) -> None:
        self.finder.read_again()
        self._show()

    def _show(self) -> None:
        """Everything but the tokens themselves."""
        finder = self.finder
        self.message.setVisible(not self._has_tokens)
        self.message.setText(self._why_empty())
        self.again.setVisible(finder.can_read)
        self.again.setEnabled(not finder.is_paused)
        self.head.setText(finder.source.title if finder.source else "")
        self.head.setVisible(finder.source is not None)

    @property
    def _has_tokens(self) -> bool:
        return bool(self.finder.tokens.token_ids) and self.recording.is_live

    def _empty_page(self) -> QVBoxLayout:
        again = (self.again, 0, Qt.AlignmentFlag.AlignCenter)
        return vbox(STRETCH, self.message, again, STRETCH, margins=(24, 0, 24, 0), spacing=12)

    def _why_empty(self) -> str:
        if not self.recording.is_live:
            return tr(self.RECORDED)
        if self.recording.model is None or not self._has_engine:
            return self._no_model(self.NO_MODEL)
        return tr_said(self.finder.message) or tr(self.CHOOSE)
