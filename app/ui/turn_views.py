"""One turn on the page: the user's words in a bubble, or an answer with a quiet line below it. GUI thread."""

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QToolTip, QWidget

from app.chats.chat import Turn, TurnState
from app.engine.types import Role, SlotSnapshot, Usage
from app.look.fonts import reading_font, small_font, tabular
from app.look.icon_button import IconButton
from app.look.plain_text import PlainLabel, as_table
from app.look.tokens import current
from app.ui.answer_body import AnswerBody
from app.ui.answer_text import (
    activity_line,
    notice_line,
    prefix_end_text,
    stats_line,
    usage_rows,
    usage_times,
)
from app.ui.copy_button import CopyButton
from app.ui.safe_browser import SafeBrowser

BUBBLE_RADIUS = 12
BUBBLE_PADDING_X = 14
BUBBLE_PADDING_TOP = 10
BUBBLE_PADDING_BOTTOM = 4  # the spacing of lines leaves room below the last one
BUBBLE_SHARE = 0.86  # of the column, at most
FOOTER = 28
GAP = 4


class UserView(QWidget):
    """Exactly what was typed: no Markdown."""

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(parent)
        self.turn = turn
        self._text = SafeBrowser(self)
        self._text.setAccessibleName("You")
        self._text.show_plain(turn.text)
        self._text.set_reading_font(reading_font())

    def refresh(self) -> None:
        pass  # what was sent does not change

    def set_slot(self, slot: SlotSnapshot | None, is_paused: bool = False) -> None:
        pass  # only an answer is being computed

    def offer_to_keep_going(self, is_offered: bool) -> None:
        pass  # only an answer can be cut

    def set_zoom(self, zoom: int) -> None:
        self._text.set_reading_font(reading_font(zoom))

    def arrange(self, width: int) -> int:
        widest = int(width * BUBBLE_SHARE) - 2 * BUBBLE_PADDING_X
        text_width = min(self._text.ideal_width(), widest)
        text_height = self._text.arrange(text_width)
        self._text.move(width - BUBBLE_PADDING_X - text_width, BUBBLE_PADDING_TOP)
        height = BUBBLE_PADDING_TOP + text_height + BUBBLE_PADDING_BOTTOM
        self.setFixedSize(width, height)
        return height

    def plain_text(self) -> str:
        return self._text.toPlainText()

    def paintEvent(self, _event: QPaintEvent) -> None:
        bubble = self._text.geometry().adjusted(
            -BUBBLE_PADDING_X, -BUBBLE_PADDING_TOP, BUBBLE_PADDING_X, BUBBLE_PADDING_BOTTOM
        )
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current().raised))
        painter.drawRoundedRect(bubble, BUBBLE_RADIUS, BUBBLE_RADIUS)


class AnswerView(QWidget):
    """Text, then why it ended early if it did, then what it cost.

    The last line is there from the start, so that nothing moves when the answer ends.
    """

    fork_requested = Signal(object)  # the Turn to end with
    tokens_requested = Signal(object)  # the Turn whose tokens somebody wants to see
    keep_going_requested = Signal()

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(parent)
        self.turn = turn
        self._slot: SlotSnapshot | None = None
        self._is_paused = False
        self._body = AnswerBody(self)
        self._notice = PlainLabel(parent=self, tone="muted")
        self._notice.setWordWrap(True)
        self._notice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._footer = PlainLabel(parent=self, tone="muted")
        self._footer.setFont(tabular(small_font()))
        self._copy = CopyButton("Copy answer", lambda: self.turn.text, self, is_quiet=True)
        self._fork = IconButton("git-fork", "Fork the chat here", CopyButton.SIDE, self, is_quiet=True)
        self._details = IconButton("info", "What this answer cost", CopyButton.SIDE, self, is_quiet=True)
        self._tokens = IconButton(
            "chart-bar-decreasing", "Token probabilities", CopyButton.SIDE, self, is_quiet=True
        )
        self._keep_going = _keep_going_button(self)
        self._fork.clicked.connect(lambda: self.fork_requested.emit(self.turn))
        self._details.clicked.connect(self._show_details)
        self._tokens.clicked.connect(lambda: self.tokens_requested.emit(self.turn))
        self._keep_going.clicked.connect(self.keep_going_requested)
        self.set_zoom(0)
        self.refresh()

    def refresh(self) -> None:
        """Draws what the turn has become."""
        if self.turn.state is TurnState.STREAMING:
            self._body.show_growing(self.turn.text)
        else:
            self._body.show_whole(self.turn.text)
        self._notice.setText(notice_line(self.turn))
        self._notice.set_tone("danger" if self.turn.state is TurnState.FAILED else "muted")
        self._copy.setVisible(bool(self.turn.text))
        self._tokens.setVisible(bool(self.turn.text))
        is_streaming = self.turn.state is TurnState.STREAMING
        self._fork.setVisible(bool(self.turn.text) and not is_streaming)
        self._details.setVisible(bool(usage_rows(self.turn.usage)) and not is_streaming)
        self._show_footer()

    def offer_to_keep_going(self, is_offered: bool) -> None:
        """Where the chat was full and could go on with a rolling window."""
        self._keep_going.setVisible(is_offered)

    def set_slot(self, slot: SlotSnapshot | None, is_paused: bool = False) -> None:
        """How far the engine is with this answer, and whether all chats are paused."""
        self._slot, self._is_paused = slot, is_paused
        self._show_footer()

    def _show_footer(self) -> None:
        is_streaming = self.turn.state is TurnState.STREAMING
        line = activity_line(self._slot, self._is_paused) if is_streaming else stats_line(self.turn)
        if line != self._footer.text():
            self._footer.setText(line)
            self._place_footer(self._footer.y())
        usage = self.turn.usage
        details = "" if is_streaming or not usage_rows(usage) else details_tooltip(usage)
        self._footer.setToolTip(details)

    def _show_details(self) -> None:
        place = self._details.mapToGlobal(QPoint(0, self._details.height()))
        QToolTip.showText(place, details_tooltip(self.turn.usage), self._details)

    def set_zoom(self, zoom: int) -> None:
        self._body.set_zoom(zoom)
        self._notice.setFont(reading_font(zoom))

    def arrange(self, width: int) -> int:
        y = self._body.arrange(width)
        has_notice = bool(self._notice.text())
        self._notice.setVisible(has_notice)
        if has_notice:
            y += GAP if y else 0
            height = self._notice.heightForWidth(width)
            self._notice.setGeometry(0, y, width, height)
            y += height
        if not self._keep_going.isHidden():
            self._keep_going.adjustSize()
            self._keep_going.move(0, y + 2 * GAP)
            y += self._keep_going.height() + 3 * GAP
        y += GAP if y else 0
        self._place_footer(y)
        self.setFixedSize(width, y + FOOTER)
        return y + FOOTER

    def _place_footer(self, y: int) -> None:
        width = self._footer.sizeHint().width()
        self._footer.setGeometry(0, y, width, FOOTER)
        x = width + 8 if self._footer.text() else -4
        for button in self._actions:
            button.move(x, y + (FOOTER - CopyButton.SIDE) // 2)
            x += CopyButton.SIDE if not button.isHidden() else 0

    @property
    def _actions(self) -> tuple[IconButton, ...]:
        return (self._copy, self._fork, self._details, self._tokens)

    def plain_text(self) -> str:
        return self._body.plain_text()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._reveal_actions(True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._reveal_actions(False)

    def _reveal_actions(self, is_revealed: bool) -> None:
        for button in self._actions:
            button.reveal(is_revealed)


TurnView = UserView | AnswerView


def view_of(turn: Turn, parent: QWidget) -> TurnView:
    return UserView(turn, parent) if turn.role is Role.USER else AnswerView(turn, parent)


def details_tooltip(usage: Usage) -> str:
    return as_table(usage_rows(usage), (prefix_end_text(usage.prefix_end), usage_times(usage)))


def _keep_going_button(parent: QWidget) -> QPushButton:
    button = QPushButton("Keep going with a rolling window", parent)
    button.setToolTip("From now on the oldest turns are left out; the system prompt stays")
    button.hide()
    return button
