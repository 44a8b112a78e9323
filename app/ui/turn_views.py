"""One turn on the page: the user's words in a bubble, or an answer with a quiet line below it. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QEnterEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.chats.chat import Turn, TurnState
from app.engine.types import Role, SlotSnapshot
from app.look.fonts import reading_font, small_font, tabular
from app.look.tokens import current
from app.ui.answer_body import AnswerBody
from app.ui.answer_text import activity_line, notice_line, stats_line
from app.ui.copy_button import CopyButton
from app.ui.plain_text import PlainLabel
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

    def set_slot(self, slot: SlotSnapshot | None) -> None:
        pass  # only an answer is being computed

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

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(parent)
        self.turn = turn
        self._slot: SlotSnapshot | None = None
        self._body = AnswerBody(self)
        self._notice = PlainLabel(parent=self, tone="muted")
        self._notice.setWordWrap(True)
        self._notice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._footer = PlainLabel(parent=self, tone="muted")
        self._footer.setFont(tabular(small_font()))
        self._copy = _QuietCopyButton("Copy answer", lambda: self.turn.text, self)
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
        self._show_footer()

    def set_slot(self, slot: SlotSnapshot | None) -> None:
        """How far the engine is with this answer."""
        self._slot = slot
        self._show_footer()

    def _show_footer(self) -> None:
        is_streaming = self.turn.state is TurnState.STREAMING
        line = activity_line(self._slot) if is_streaming else stats_line(self.turn)
        if line != self._footer.text():
            self._footer.setText(line)
            self._place_footer(self._footer.y())

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
        y += GAP if y else 0
        self._place_footer(y)
        self.setFixedSize(width, y + FOOTER)
        return y + FOOTER

    def _place_footer(self, y: int) -> None:
        width = self._footer.sizeHint().width()
        self._footer.setGeometry(0, y, width, FOOTER)
        after = width + 8 if self._footer.text() else -4
        self._copy.move(after, y + (FOOTER - CopyButton.SIDE) // 2)

    def plain_text(self) -> str:
        return self._body.plain_text()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._copy.reveal(True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._copy.reveal(False)


TurnView = UserView | AnswerView


def view_of(turn: Turn, parent: QWidget) -> TurnView:
    return UserView(turn, parent) if turn.role is Role.USER else AnswerView(turn, parent)


class _QuietCopyButton(CopyButton):
    """Takes its place always, and is seen only while its answer is pointed at or it has the focus."""

    def __init__(self, name: str, text: Callable[[], str], parent: QWidget) -> None:
        super().__init__(name, text, parent)
        self._is_revealed = False

    def reveal(self, is_revealed: bool) -> None:
        self._is_revealed = is_revealed
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        focused, answer = QApplication.focusWidget(), self.parentWidget()
        has_focus = focused is not None and answer is not None and answer.isAncestorOf(focused)
        if self._is_revealed or has_focus:
            super().paintEvent(event)
