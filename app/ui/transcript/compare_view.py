"""All versions of the last answer side by side, to choose one of them. GUI thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.chats.branches import votes
from app.chats.chat import Turn, TurnState
from app.chats.tool_use import ToolRound
from app.look.buttons import quiet_button
from app.look.fonts import small_font, tabular
from app.look.painted import paint_rounded
from app.look.plain_text import ElidedLabel, PlainLabel, as_tooltip, one_line
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.copy_button import CopyButton
from app.ui.message.answer_body import AnswerBody
from app.ui.message.markdown_column import discard
from app.ui.message.message_text import written_text
from app.ui.message.text_part import TextPart
from app.ui.message.tool_rounds import GAP as ROUNDS_GAP
from app.ui.message.tool_rounds import ToolRoundsView
from app.ui.message.tool_words import Naming
from app.ui.transcript.answer_text import activity_line, computing_line, notice_line, stats_line, tools_line
from app.ui.transcript.turn_actions import Place
from app.ui.transcript.turn_view import NO_PROGRESS, AnswerProgress, TurnView

MIN_COLUMN = 250
MAX_COLUMN = 620
GAP = 16
PADDING = 12
HEAD, FOOT = 46, 26
RADIUS = 8
VOTE_HEIGHT = 28
MAX_VOTES = 4  # that are told


class CompareView(TurnView):
    """Columns stand side by side as far as they fit, the rest below them."""

    GAP_AFTER = 20
    IS_WIDE = True

    kept = Signal(object)  # the Turn that was chosen

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(turn, parent)
        self.columns: list[AnswerColumn] = []
        self._is_plain = False
        self._naming: Naming = lambda _name: None
        self.buttons.hide()
        self.versions.hide()
        self.setAccessibleName(tr("Answers side by side"))
        self.vote = PlainLabel(parent=self, tone="muted")
        self.vote.setFont(tabular(small_font()))
        self.close_button = quiet_button(tr("Close comparison"), self)
        self.close_button.clicked.connect(lambda: self.kept.emit(self.turn))

    def apply(self, place: Place, progress: AnswerProgress) -> None:
        self.place = place
        if [column.turn for column in self.columns] != list(place.versions):
            self._make_columns(place.versions)
            self.changed()
        for column in self.columns:
            if column.apply(place, goes_on=column.turn is self.turn):
                self.changed()
        if (vote := vote_text(place.versions)) != self.vote.text():
            self.vote.setText(vote)
            self.changed()
        self.show_progress(progress)

    def show_progress(self, progress: AnswerProgress) -> None:
        for column in self.columns:
            column.show_progress(progress if column.turn is self.turn else NO_PROGRESS)

    def set_plain(self, is_plain: bool) -> None:
        self._is_plain = is_plain
        self._make_columns(())  # `apply` makes them anew

    def set_zoom(self, zoom: int) -> None:
        super().set_zoom(zoom)
        for column in self.columns:
            column.set_zoom(zoom)

    def set_naming(self, naming: Naming) -> None:
        self._naming = naming
        for column in self.columns:
            column.rounds.naming = naming

    def text_parts(self) -> list[TextPart]:
        """One answer after the other."""
        return [
            part.under(number) for number, column in enumerate(self.columns) for part in column.text_parts()
        ]

    @property
    def shows_more_than_written(self) -> bool:
        return True

    def finish(self) -> None:
        for column in self.columns:
            column.finish()

    def _make_columns(self, versions: tuple[Turn, ...]) -> None:
        for column in self.columns:
            discard(column)
        self.columns = [AnswerColumn(version, self) for version in versions]
        for column in self.columns:
            column.set_zoom(self._zoom)
            column.rounds.set_plain(self._is_plain)
            column.body.set_plain(self._is_plain)
            column.rounds.naming = self._naming
            column.kept.connect(self.kept)
            column.rounds.decided.connect(self.decided)
            column.rounds.height_changed.connect(self._emit_height_changed)
            column.body.height_changed.connect(self._emit_height_changed)
            column.show()

    def _arrange_text(self, width: int) -> int:
        left = _columns_across(self.columns, width)[2]
        y, button = VOTE_HEIGHT + GAP // 2, self.close_button
        button.adjustSize()
        button.move(width - left - button.width(), (VOTE_HEIGHT - button.height()) // 2)
        self.vote.setGeometry(left, 0, max(0, button.x() - left - GAP), VOTE_HEIGHT)
        self.vote.setVisible(bool(self.vote.text()))
        return arrange_columns(self.columns, width, y)

    def _save_label(self) -> str:
        return tr("Save as a new version")


def _columns_across(columns: Sequence[AnswerColumn], width: int) -> tuple[int, int, int]:
    """How many stand side by side, the width of each, and where the first begins."""
    num_across = max(1, min(len(columns), (width + GAP) // (MIN_COLUMN + GAP)))
    across = min(MAX_COLUMN, (width - (num_across - 1) * GAP) // num_across)
    return num_across, across, (width - num_across * across - (num_across - 1) * GAP) // 2


def arrange_columns(columns: Sequence[AnswerColumn], width: int, y: int) -> int:
    """Side by side as far as they fit, from `y` on. Returns where they end."""
    num_across, across, left = _columns_across(columns, width)
    for begin in range(0, len(columns), num_across):
        line = columns[begin : begin + num_across]
        height = max(column.height_for(across) for column in line)
        for number, column in enumerate(line):
            column.arrange(across, height)
            column.move(left + number * (across + GAP), y)
        y += height + GAP
    return max(0, y - GAP)


def vote_text(answers: Iterable[Turn]) -> str:
    """What most of several short answers say; nothing is chosen by it."""
    counted = votes(answers)
    total = sum(number for _, number in counted)
    parts = [
        tr("{answer}: {number} of {total}", answer=one_line(text), number=number, total=total)
        for text, number in counted[:MAX_VOTES]
    ]
    return tr("Votes: {votes}", votes=" · ".join(parts)) if parts else ""


class AnswerColumn(QWidget):
    kept = Signal(object)  # the Turn

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(parent)
        self.turn = turn
        self._shown: tuple[object, ...] | None = None
        self._stats = ""
        self._goes_on = False
        self._head = ElidedLabel(parent=self, tone="muted", elide=Qt.TextElideMode.ElideRight)
        self._head.setFont(small_font())
        self.keep = QPushButton(tr("Keep this one"), self)
        self.keep.clicked.connect(lambda: self.kept.emit(self.turn))
        self.copy = CopyButton(tr("Copy answer"), lambda: written_text(self.turn), self)
        self.rounds = ToolRoundsView(self)
        self.body = AnswerBody(self)
        self._notice = PlainLabel(parent=self, tone="muted", wraps=True)
        self._footer = PlainLabel(parent=self, tone="muted")
        self._footer.setFont(tabular(small_font()))

    def apply(self, place: Place, *, goes_on: bool) -> bool:
        """Whether its height may have changed. `goes_on`: the chat goes on from it."""
        turn = self.turn
        self._goes_on = goes_on
        self._show_head(place)
        self.update()
        has_changed = self.rounds.apply(self._shown_rounds, turn.state is TurnState.STREAMING)
        shown = (len(turn.text), turn.reading, turn.state, turn.notice)
        if shown == self._shown:
            return has_changed
        self._shown = shown
        if turn.state is TurnState.STREAMING:
            self.body.show_growing(turn.split, turn.thinking_s)
        else:
            self.body.show_whole(turn.split, turn.thinking_s)
        self._notice.setText(notice_line(turn))
        self._notice.set_tone("danger" if turn.state is TurnState.FAILED else "muted")
        return True

    def _show_head(self, place: Place) -> None:
        number, total = place.number_of(self.turn), len(place.versions)
        head = tr("Answer {number} of {total}", number=number, total=total)
        self._head.setText(tr("{answer} · the chat goes on from it", answer=head) if self._goes_on else head)
        self.setAccessibleName(self._head.text())
        self.keep.setAccessibleName(tr("Keep answer {number}", number=number))
        self.keep.setEnabled(not place.is_busy)

    @property
    def _shown_rounds(self) -> list[ToolRound]:
        return self.turn.rounds

    def show_progress(self, progress: AnswerProgress) -> None:
        turn = self.turn
        if turn.state is not TurnState.STREAMING:
            line = stats_line(turn)
        elif waits := tools_line(turn):
            line = waits
        elif turn.text and progress.slot is None:  # only the first one's slot is known here
            line = computing_line(turn.usage)
        else:
            line = activity_line(progress.slot, progress.is_paused, starting=progress.starting)
        if turn.state is TurnState.STREAMING:  # the statistics name the model, too
            line = " · ".join(filter(None, (turn.model, line)))
        self._stats = one_line(line)
        self._footer.setToolTip(as_tooltip(self._stats))
        self._elide_stats()

    def _elide_stats(self) -> None:
        metrics = self._footer.fontMetrics()
        room = self.width() - 2 * PADDING
        self._footer.setText(metrics.elidedText(self._stats, Qt.TextElideMode.ElideRight, room))

    def height_for(self, width: int) -> int:
        inner = width - 2 * PADDING
        notice = self._notice.heightForWidth(inner) + 4 if self._notice.text() else 0
        return HEAD + self._arrange_text(inner) + 4 + notice + FOOT + 4

    def _arrange_text(self, inner: int) -> int:
        height = self.rounds.arrange(inner)
        self.rounds.move(PADDING, HEAD)
        below = self.body.arrange(inner)
        height += ROUNDS_GAP if height and below else 0
        self.body.move(PADDING, HEAD + height)
        return height + below

    def text_parts(self) -> list[TextPart]:
        rounds = (part.under(0) for part in self.rounds.text_parts())
        return [*rounds, *(part.under(1) for part in self.body.text_parts())]

    def finish(self) -> None:
        self.rounds.finish()
        self.body.column.finish()

    def set_zoom(self, zoom: int) -> None:
        self.rounds.set_zoom(zoom)
        self.body.set_zoom(zoom)

    def arrange(self, width: int, height: int) -> None:
        """The statistics are at the foot of the row, however short the answer is."""
        inner = width - 2 * PADDING
        self.setFixedSize(width, height)
        self.keep.adjustSize()
        x = width - PADDING - self.keep.width()
        self.keep.move(x, (HEAD - self.keep.height()) // 2)
        x -= self.copy.width() + 4
        self.copy.move(x, (HEAD - self.copy.height()) // 2)
        self._head.setGeometry(PADDING, 0, x - PADDING - 4, HEAD)
        self._notice.setVisible(bool(self._notice.text()))
        y = self.body.y() + self.body.height() + 4
        self._notice.setGeometry(PADDING, y, inner, self._notice.heightForWidth(inner))
        self._footer.setGeometry(PADDING, height - FOOT - 2, inner, FOOT)
        self._elide_stats()

    def paintEvent(self, _event: QPaintEvent) -> None:
        edge = current().accent if self._goes_on else current().hairline
        paint_rounded(QPainter(self), self.rect(), RADIUS, 0.5, edge=edge)
