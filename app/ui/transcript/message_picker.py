"""Selecting several messages of a chat, to copy them together. GUI thread."""

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget

from app.chats.chat import Chat, Turn
from app.look.buttons import quiet_button
from app.look.icons import paint_icon
from app.look.layouts import STRETCH, drop, hbox
from app.look.painted import paint_rounded
from app.look.plain_text import PlainLabel, one_line
from app.look.strip import Bar
from app.look.tokens import current
from app.look.words import tr, tr_n
from app.ui.base.proportions import COLUMN_MARGIN as MARGIN
from app.ui.message.message_text import as_markdown, as_plain_text, speaker
from app.ui.transcript.transcript import Transcript
from app.ui.transcript.turn_view import TurnView

BOX = 16
MAX_NAME_CHARS = 60


class MessagePicker(QObject):
    """While active, a click selects a turn; with Shift all turns up to it."""

    def __init__(self, transcript: Transcript, chat: Chat, parent: QWidget) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._chat = chat
        self._picked: set[str] = set()
        self._last: Turn | None = None
        self._covers: dict[TurnView, PickCover] = {}
        self.is_on = False
        self.bar = PickerBar(parent)
        self.bar.markdown.clicked.connect(lambda: self._copy(as_markdown(self.picked)))
        self.bar.plain.clicked.connect(lambda: self._copy(as_plain_text(self.picked)))
        self.bar.cancelled.connect(self.stop)
        transcript.drawn.connect(self._place)

    @property
    def picked(self) -> list[Turn]:
        """In chat order."""
        return [turn for turn in self._chat.turns if turn.id in self._picked]

    @Slot(object)
    def start(self, turn: Turn) -> None:
        self.is_on = True
        self._picked, self._last = {turn.id}, turn
        self.bar.show()
        self._show()
        self.bar.markdown.setFocus()

    @Slot()
    def stop(self) -> None:
        self.is_on = False
        self._picked.clear()
        self.bar.hide()
        self._place()
        self._transcript.setFocus()

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.stop()

    def _pick(self, turn: Turn, is_range: bool) -> None:
        ids = [known.id for known in self._chat.turns]
        if is_range and self._last and self._last.id in ids and turn.id in ids:
            first, last = sorted((ids.index(self._last.id), ids.index(turn.id)))
            self._picked.update(ids[first : last + 1])
        else:
            self._picked ^= {turn.id}
        self._last = turn
        self._show()

    def _show(self) -> None:
        self.bar.show_num_picked(len(self.picked))
        self._place()

    @Slot()
    def _place(self) -> None:
        """A cover over each turn that is drawn."""
        if not (self.is_on or self._covers):
            return
        live = self._transcript.live_views if self.is_on else []
        for view in [view for view in self._covers if view not in live]:
            drop(self._covers.pop(view))
        for view in live:
            if view not in self._covers:
                self._covers[view] = PickCover(self._transcript.viewport())
                self._covers[view].picked.connect(self._pick)
                self._covers[view].cancelled.connect(self.stop)
            self._covers[view].cover(view, view.turn.id in self._picked)


class PickCover(QAbstractButton):
    """A check box that covers its turn."""

    picked = Signal(object, bool)  # the Turn, whether all up to it
    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._turn: Turn | None = None
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def cover(self, view: TurnView, is_picked: bool) -> None:
        self._turn = view.turn
        self.setGeometry(view.geometry().adjusted(-MARGIN, -2, MARGIN // 2, 2))
        words = one_line(view.turn.text[: 4 * MAX_NAME_CHARS])[:MAX_NAME_CHARS]
        self.setAccessibleName(tr("{speaker}: {words}", speaker=speaker(view.turn), words=words))
        self.setChecked(is_picked)
        self.show()
        self.raise_()

    def nextCheckState(self) -> None:
        """The owner of the selection decides, so a click alone changes nothing."""
        is_range = bool(QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.picked.emit(self._turn, is_range)

    def event(self, event: QEvent) -> bool:
        return _took_escape(event, self.cancelled) or super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.underMouse() or self.hasFocus():
            tint = QColor(tokens.accent)
            tint.setAlphaF(0.14 if self.isChecked() else 0.05)
            painter.setPen(QPen(QColor(tokens.accent), 1) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(tint)
            painter.drawRoundedRect(self.rect().toRectF().adjusted(1, 1, -1, -1), 8, 8)
        box = QRectF(2.5, 6.5, BOX - 1, BOX - 1)
        paint_rounded(
            painter,
            box,
            4,
            fill=tokens.accent if self.isChecked() else tokens.window,
            edge=tokens.accent if self.isChecked() else tokens.muted,
        )
        if self.isChecked():
            paint_icon(painter, "check", box.adjusted(2, 2, -2, -2), tokens.on_accent)


class PickerBar(Bar):
    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.count = PlainLabel(parent=self)
        self.markdown = QPushButton(tr("Copy as Markdown"), self)
        self.plain = QPushButton(tr("Copy as plain text"), self)
        self.cancel = quiet_button(tr("Cancel"), self)
        self.cancel.setToolTip(tr("Esc"))
        self.cancel.clicked.connect(self.cancelled)
        hbox(self.count, STRETCH, self.cancel, self.plain, self.markdown, on=self, margins=(16, 6, 12, 6))
        self.setFocusProxy(self.markdown)
        self.hide()

    def show_num_picked(self, number: int) -> None:
        self.count.setText(tr_n("{n} message selected", "{n} messages selected", number))
        self.markdown.setEnabled(number > 0)
        self.plain.setEnabled(number > 0)

    def event(self, event: QEvent) -> bool:
        return _took_escape(event, self.cancelled) or super().event(event)


def _took_escape(event: QEvent, cancelled: SignalInstance) -> bool:
    """Before the window's shortcuts: there it stops an answer."""
    if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape:
        return False
    if event.type() == QEvent.Type.KeyPress:
        cancelled.emit()
    event.accept()
    return event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
