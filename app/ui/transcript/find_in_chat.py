"""Searches one chat: counts matches in the text, marks them in views, goes to each.

A long chat is searched in pieces, so that the window stays responsive. GUI thread.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QLineEdit, QTextEdit, QWidget

from app.chats.chat import Chat, Turn
from app.look.buttons import IconButton
from app.look.fonts import tabular
from app.look.layouts import STRETCH, hbox
from app.look.plain_text import PlainLabel
from app.look.strip import Bar
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.frame_budget import frame_budget
from app.ui.message.message_text import searched_texts
from app.ui.message.text_part import SelectedText, coloured
from app.ui.transcript.transcript import Transcript
from app.ui.transcript.turn_view import TurnView

TYPING_MS = 120  # of a pause in typing
MAX_MARKS = 2_000  # in one view


@dataclass(frozen=True, slots=True)
class Match:
    row: int
    turn: Turn
    number: int  # index within its turn


def matches_in(chat: Chat, query: str, matches_case: bool) -> Iterator[Match | None]:
    """All matches in order. Yields None after each turn, as a point to pause."""
    wanted = query if matches_case else query.lower()
    for row, turn in enumerate(list(chat.turns)):
        number = 0
        for text in searched_texts(turn):
            text = text if matches_case else text.lower()
            at = text.find(wanted)
            while at >= 0:
                yield Match(row, turn, number)
                at, number = text.find(wanted, at + len(wanted)), number + 1
        yield None


class FindInChat(QObject):
    def __init__(self, bar: FindBar, transcript: Transcript, chat: Chat, parent: QWidget) -> None:
        super().__init__(parent)
        self._bar = bar
        self._transcript = transcript
        self._chat = chat
        self._matches: list[Match] = []
        self._current = -1
        self._has_marks = False
        self._reading: Iterator[Match | None] | None = None
        self._opened_from: QWidget | None = None
        self._waits = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._waits.timeout.connect(self._begin)
        self._reads = QTimer(self, singleShot=True, interval=0)
        self._reads.timeout.connect(self._read)
        bar.query_changed.connect(self._waits.start)
        bar.step_requested.connect(self.step)
        bar.closed.connect(self.close)
        transcript.drawn.connect(self._mark)

    @property
    def is_open(self) -> bool:
        return not self._bar.isHidden()

    def open(self) -> None:
        """Starts with the selected words, if any."""
        focused = QApplication.focusWidget()
        if not self.is_open:
            self._opened_from = focused
        if selected := _one_line(self._transcript.selection.words) or _selected_words(focused):
            self._bar.field.setText(selected)
        self._bar.show()
        self._bar.field.setFocus()
        self._bar.field.selectAll()
        self._begin()

    @Slot()
    def close(self) -> None:
        self._bar.hide()
        self._waits.stop()
        self._reads.stop()
        self._matches, self._current = [], -1
        self._mark()
        if self._opened_from:
            self._opened_from.setFocus()
        self._opened_from = None

    @Slot(int)
    def step(self, step: int) -> None:
        if not self.is_open:
            self.open()
        elif self._waits.isActive():
            self._begin()
        elif self._matches:
            self._go_to((self._current + step) % len(self._matches))

    def refresh(self) -> None:
        """Turns were added, removed or changed."""
        if self.is_open and self._bar.query:
            self._waits.start()

    @Slot()
    def _begin(self) -> None:
        self._waits.stop()
        self._matches, self._current = [], -1
        query = self._bar.query
        self._reading = matches_in(self._chat, query, self._bar.case.isChecked()) if query else None
        self._read()

    @Slot()
    def _read(self) -> None:
        """Searches until the frame is spent, then yields to the event loop."""
        with frame_budget().shared():
            for match in self._reading or ():
                if match:
                    self._matches.append(match)
                elif frame_budget().is_spent:
                    self._reads.start()
                    self._show_count()
                    return
        self._reading = None
        if self._matches:
            self._go_to(self._nearest())
        self._show_count()
        self._mark()

    def _nearest(self) -> int:
        """The first match from the visible part on, or else the last before it."""
        first = next(iter(self._transcript.rows_in_sight), 0)
        index = bisect_left(self._matches, first, key=lambda match: match.row)
        return min(index, len(self._matches) - 1)

    # Showing

    def _go_to(self, index: int) -> None:
        self._current = index
        match = self._matches[index]
        view = self._transcript.show_turn(match.turn)
        self._show_count()
        if view is None:
            return
        view.show_match(self._bar.query, match.number)
        self._mark()
        found = self._found_in(view)
        if found:
            pane, cursor = found[min(match.number, len(found) - 1)]
            self._transcript.scroll_to(pane.viewport(), pane.cursorRect(cursor))

    def _show_count(self) -> None:
        number, total = self._current + 1, len(self._matches)
        if not self._bar.query:
            text = ""
        elif self._reading:
            text = tr("{total} so far…", total=total)
        elif total:
            text = tr("{number} of {total}", number=number, total=total)
        else:
            text = tr("No matches")
        self._bar.show_count(text, can_step=total > 0)

    @Slot()
    def _mark(self) -> None:
        is_wanted = self.is_open and bool(self._bar.query)
        if not (is_wanted or self._has_marks):
            return
        self._has_marks = is_wanted
        for view in self._transcript.live_views:
            marks: dict[SelectedText, list[QTextEdit.ExtraSelection]] = {
                pane: [] for pane in view.text_panes()
            }
            if is_wanted:
                self._add_marks(view, marks)
            for pane, selections in marks.items():
                pane.show_marks(selections)

    def _add_marks(self, view: TurnView, marks: dict[SelectedText, list[QTextEdit.ExtraSelection]]) -> None:
        match = self._matches[self._current] if 0 <= self._current < len(self._matches) else None
        found = self._found_in(view)
        number = min(match.number, len(found) - 1) if match and match.turn is view.turn else -1
        for index, (pane, cursor) in enumerate(found):
            marks[pane].append(_marked(pane, cursor, is_current=index == number))

    def _found_in(self, view: TurnView) -> list[tuple[SelectedText, QTextCursor]]:
        found: list[tuple[SelectedText, QTextCursor]] = []
        flag = (
            QTextDocument.FindFlag.FindCaseSensitively
            if self._bar.case.isChecked()
            else QTextDocument.FindFlag(0)
        )
        for pane in view.text_panes():
            cursor = pane.document().find(self._bar.query, 0, flag)
            while not cursor.isNull() and len(found) < MAX_MARKS:
                found.append((pane, cursor))
                cursor = pane.document().find(self._bar.query, cursor, flag)
        return found


def _marked(pane: SelectedText, cursor: QTextCursor, is_current: bool) -> QTextEdit.ExtraSelection:
    tokens = current()
    place = pane.document(), cursor.selectionStart(), cursor.selectionEnd()
    if is_current:
        return coloured(*place, QColor(tokens.accent), QColor(tokens.on_accent))
    colour = QColor(tokens.warning)
    colour.setAlphaF(0.35)
    return coloured(*place, colour)


def _selected_words(widget: QWidget | None) -> str:
    return _one_line(widget.textCursor().selectedText()) if hasattr(widget, "textCursor") else ""  # type: ignore[union-attr]


def _one_line(selected: str) -> str:
    """Only words within one line are a search term."""
    return selected if len(selected) <= 200 and not {"\n", "\u2029"} & set(selected) else ""


SIDE = 28
FIELD_WIDTH = 260
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FindBar(Bar):
    """Enter and F3 go to the next match, with Shift to the previous one; Esc closes."""

    query_changed = Signal()
    step_requested = Signal(int)  # 1 to the next, -1 to the one before
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(tr("Find in this chat"))
        self.field.setAccessibleName(tr("Find in this chat"))
        self.field.setFixedWidth(FIELD_WIDTH)
        self.count = PlainLabel(parent=self, tone="muted")
        self.count.setFont(tabular(self.count.font()))
        self.case = IconButton("case-sensitive", tr("Match case"), SIDE, self)
        self.case.setCheckable(True)
        self.previous = IconButton("chevron-up", tr("Previous match (Shift+F3)"), SIDE, self)
        self.previous.setProperty("command", "chat.find-previous")
        self.next = IconButton("chevron-down", tr("Next match (F3)"), SIDE, self)
        self.next.setProperty("command", "chat.find-next")
        self.close_button = IconButton("x", tr("Close (Esc)"), SIDE, self)
        self._lay_out()
        self.field.textChanged.connect(self.query_changed)
        self.case.toggled.connect(self.query_changed)
        self.previous.clicked.connect(lambda: self.step_requested.emit(-1))
        self.next.clicked.connect(lambda: self.step_requested.emit(1))
        self.close_button.clicked.connect(self.closed)
        self.setFocusProxy(self.field)
        self.hide()

    @property
    def query(self) -> str:
        return self.field.text()

    def show_count(self, text: str, can_step: bool) -> None:
        self.count.setText(text)
        self.previous.setEnabled(can_step)
        self.next.setEnabled(can_step)

    def _lay_out(self) -> None:
        hbox(
            STRETCH,
            self.count,
            10,
            self.field,
            4,
            self.case,
            self.previous,
            self.next,
            self.close_button,
            on=self,
            margins=(16, 6, 12, 6),
            spacing=2,
        )

    def event(self, event: QEvent) -> bool:
        """Takes its keys before the window's shortcuts: Esc would stop an answer."""
        is_override = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if is_override and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F3):  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        elif event.key() in (*_ENTER, Qt.Key.Key_F3):
            self.step_requested.emit(-1 if is_back else 1)
        else:
            super().keyPressEvent(event)
