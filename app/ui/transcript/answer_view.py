"""An answer, with a line of statistics below it. GUI thread."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QPushButton, QToolTip, QWidget

from app.chats.chat import Turn, TurnState
from app.chats.tasks import tasks_of
from app.chats.tool_use import ToolUse
from app.look.fonts import reading_font, small_font, tabular
from app.look.plain_text import PlainLabel, as_table, one_line
from app.look.words import mark, tr
from app.protocol.request import Overflow
from app.ui.message.answer_body import AnswerBody
from app.ui.message.text_part import TextPart
from app.ui.message.tool_rounds import GAP as ROUNDS_GAP
from app.ui.message.tool_rounds import ToolRoundsView
from app.ui.message.tool_words import Naming
from app.ui.transcript.answer_text import (
    activity_line,
    can_continue,
    ended_early,
    finish_text,
    has_details,
    notice_line,
    prefix_end_text,
    round_rows,
    stats_line,
    tools_line,
    usage_rows,
    usage_times,
)
from app.ui.transcript.summary_card import SummaryCard
from app.ui.transcript.task_columns import TaskColumns
from app.ui.transcript.turn_actions import Place, TurnAction, TurnButtons
from app.ui.transcript.turn_view import AnswerProgress, TurnView

FOOTER = 28
GAP = 4

_WAYS_ON = {
    Overflow.SUM_UP: (
        mark("Sum up earlier messages and go on"),
        mark(
            "From now on a summary takes the place of earlier messages when the chat is full; they stay here"
        ),
    ),
    Overflow.ROLLING_WINDOW: (
        mark("Continue with a rolling window"),
        mark("From now on the oldest turns are left out; the system prompt stays"),
    ),
    # A message that never fitted stays too long in a rolling window, which shows it whole.
    Overflow.TRUNCATE_MIDDLE: (
        mark("Leave out the middle"),
        mark("From now on the middle of turns and long texts is left out where they do not fit"),
    ),
}


class AnswerView(TurnView):
    """Text, then why it ended early if it did, then its statistics.

    The last line is reserved from the start, so that nothing moves when the answer ends.
    """

    GAP_AFTER = 20
    keep_going_requested = Signal()
    summary_acted = Signal(object, object)  # a SummaryAction, the Turn
    summary_edited = Signal(object, str)  # the Turn, what its summary shall say
    turn_requested = Signal(object)  # the Turn to scroll to
    task_stopped = Signal(object)  # the Turn that works on a task of this one

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(turn, parent)
        self._shown: tuple[object, ...] | None = None
        self._stats = ""
        self.rounds = ToolRoundsView(self)
        self.rounds.height_changed.connect(self._emit_height_changed)
        self.rounds.decided.connect(self.decided)
        self.rounds.details_of = self._task_columns
        self.body = AnswerBody(self)
        self.body.height_changed.connect(self._emit_height_changed)
        self.notice = PlainLabel(parent=self, tone="muted", wraps=True)
        self.notice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.footer = PlainLabel(parent=self, tone="muted")
        self.footer.setFont(tabular(small_font()))
        self.go_on = _offer(tr("Continue"), tr("Continue where it stopped"), self)
        self.go_on.clicked.connect(lambda: self.act(TurnAction.CONTINUE))
        self.keep_going = _offer("", "", self)
        self.keep_going.clicked.connect(self.keep_going_requested)
        self.card: SummaryCard | None = None
        self.buttons.raise_()
        self.set_zoom(0)

    @property
    def is_held(self) -> bool:
        return super().is_held or (self.card is not None and self.card.editor is not None)

    def apply(self, place: Place, progress: AnswerProgress) -> None:
        self.place = place
        turn = self.turn
        shown = (turn, len(turn.text), turn.reading, turn.state, turn.notice, turn.usage)
        if shown != self._shown:
            self._shown = shown
            self._show_turn()
            self.changed()
        if self.rounds.apply(turn.rounds, turn.state is TurnState.STREAMING):
            self.changed()
        self._show_summary()
        self._show_offers(progress)
        self.buttons.apply(turn, place)
        self.versions.apply(turn, place)
        self.show_progress(progress)

    def _show_summary(self) -> None:
        turn = self.turn
        if turn.summary and self.card is None:
            self.card = self._new_card()
        if not self.card or (self.card.isHidden() and not turn.summary):
            return
        field = (self._chat_id, f"summary {turn.id}")
        self.card.enter_saves = self.place.enter_saves
        was_hidden = self.card.isHidden()
        self.card.setVisible(bool(turn.summary) and self.editor is None)
        is_new = turn.summary and self.card.apply(turn.summary, self.place.summed_up, self._drafts, field)
        if is_new or was_hidden != self.card.isHidden():
            self.changed()

    def _task_columns(self, use: ToolUse, card: QWidget) -> TaskColumns | None:
        if not tasks_of(use, self.turn, self.place.versions):
            return None
        columns = TaskColumns(use, self.turn, lambda: self.place, self.rounds.naming, self._zoom, card)
        columns.opened.connect(lambda turn: self.version_requested.emit(self.turn, turn))
        columns.stopped.connect(self.task_stopped)
        columns.decided.connect(self.decided)
        return columns

    def _new_card(self) -> SummaryCard:
        """When it is first needed: few answers have a summary below."""
        card = SummaryCard(self)
        card.set_zoom(self._zoom)
        card.height_changed.connect(self._emit_height_changed)
        card.acted.connect(lambda action: self.summary_acted.emit(action, self.turn))
        card.edited.connect(lambda text: self.summary_edited.emit(self.turn, text))
        card.turn_requested.connect(self.turn_requested)
        return card

    def show_progress(self, progress: AnswerProgress) -> None:
        self._show_footer(progress)
        self._place_footer(self.width())

    def _show_turn(self) -> None:
        turn = self.turn
        if turn.state is TurnState.STREAMING:
            self.body.show_growing(turn.split, turn.thinking_s)
            self.footer.setToolTip("")
        else:
            self.body.show_whole(turn.split, turn.thinking_s)
            self.footer.setToolTip(details_tooltip(turn))
        self.notice.setText(notice_line(turn))
        self.notice.set_tone("danger" if turn.state is TurnState.FAILED else "muted")
        name = one_line(turn.model)
        self.setAccessibleName(tr("Answer by {model}", model=name) if name else tr("Answer"))

    def _show_offers(self, progress: AnswerProgress) -> None:
        turn, place = self.turn, self.place
        is_full = turn.overflowed and progress.way_on is not None
        can_ask = place.is_last and place.has_messages
        if progress.way_on:
            name, tip = map(tr, _WAYS_ON[progress.way_on])
            if self.keep_going.text() != name:
                self.keep_going.setText(name)
                self.keep_going.setToolTip(tip)
                self.changed()
        offers = (
            (self.keep_going, can_ask and is_full),
            (self.go_on, can_ask and not is_full and ended_early(turn) and can_continue(turn)),
        )
        for button, is_offered in offers:
            if button.isHidden() == is_offered:
                button.setVisible(is_offered)
                self.changed()

    def _show_footer(self, progress: AnswerProgress) -> None:
        if self.turn.state is TurnState.STREAMING:
            line = tools_line(self.turn) or activity_line(
                progress.slot, progress.is_paused, progress.encoding, progress.starting
            )
        else:
            line = stats_line(self.turn)
        self._stats = one_line(line)

    def text_parts(self) -> list[TextPart]:
        rounds = (part.under(0) for part in self.rounds.text_parts())
        summary = self.card.text_parts() if self.card and not self.card.isHidden() else []
        body = (part.under(1) for part in self.body.text_parts())
        return [*rounds, *body, *(part.under(2) for part in summary)]

    @property
    def shows_more_than_written(self) -> bool:
        shows_summary = self.card is not None and bool(self.card.text_parts())
        return self.body.shows_thinking or self.rounds.shows_thinking or shows_summary

    def finish(self) -> None:
        self.rounds.finish()
        self.body.column.finish()

    def plain_text(self) -> str:
        return "\n".join(text for part in (self.rounds, self.body) if (text := part.plain_text()))

    def set_naming(self, naming: Naming) -> None:
        self.rounds.naming = naming

    def show_match(self, query: str, _number: int) -> None:
        self.rounds.show_match(query)

    def show_details(self) -> None:
        button = self.buttons.button(TurnAction.DETAILS)
        QToolTip.showText(button.mapToGlobal(QPoint(0, button.height())), details_tooltip(self.turn), button)

    def set_plain(self, is_plain: bool) -> None:
        self._shown = None
        self.rounds.set_plain(is_plain)
        self.body.set_plain(is_plain)
        if self.card:
            self.card.set_plain(is_plain)

    def set_zoom(self, zoom: int) -> None:
        self.rounds.set_zoom(zoom)
        self.body.set_zoom(zoom)
        self.notice.setFont(reading_font(zoom))
        if self.card:
            self.card.set_zoom(zoom)
        super().set_zoom(zoom)

    def _arrange_text(self, width: int) -> int:
        y = self.rounds.arrange(width)
        height = self.body.arrange(width)
        y += ROUNDS_GAP if y and height else 0
        self.body.move(0, y)
        y += height
        has_notice = bool(self.notice.text())
        self.notice.setVisible(has_notice)
        if has_notice:
            y += GAP if y else 0
            height = self.notice.heightForWidth(width)
            self.notice.setGeometry(0, y, width, height)
            y += height
        for button in (self.go_on, self.keep_going):
            if not button.isHidden():
                button.adjustSize()
                button.move(0, y + 2 * GAP)
                y += button.height() + 3 * GAP
        y += GAP if y else 0
        self.footer.move(0, y)
        self._place_footer(width)
        y += FOOTER
        if self.card and not self.card.isHidden():
            self.card.move(0, y + 2 * GAP)
            y += 2 * GAP + self.card.arrange(width)
        return y

    def _place_footer(self, width: int) -> None:
        """The version switch first, so that it stays in place. Buttons, while visible, hide the figures."""
        x, y = self.versions.taken_width, self.footer.y()
        x = x + 4 if x else 0
        metrics = self.footer.fontMetrics()
        short = self._elided(width - x - self.buttons.width() - 8)
        line = short if self.is_revealed else self._elided(width - x)
        if line != self.footer.text():
            self.footer.setText(line)
        taken = metrics.horizontalAdvance(short) + 2 if short else 0
        self.versions.move(-4, y + (FOOTER - TurnButtons.HEIGHT) // 2)
        self.footer.setGeometry(x, y, metrics.horizontalAdvance(line) + 2 if line else 0, FOOTER)
        self.buttons.move(x + taken + 8 if short else x - 4, y + (FOOTER - TurnButtons.HEIGHT) // 2)

    def _elided(self, room: int) -> str:
        return self.footer.fontMetrics().elidedText(self._stats, Qt.TextElideMode.ElideRight, room)

    def _show_actions(self) -> None:
        super()._show_actions()
        self._place_footer(self.width())

    def _save_label(self) -> str:
        return tr("Save as a new version")

    def _show_text(self, is_shown: bool) -> None:
        super()._show_text(is_shown)
        for part in (self.rounds, self.body, self.footer):
            part.setVisible(is_shown)
        self.notice.setVisible(is_shown and bool(self.notice.text()))
        if self.card:
            self.card.setVisible(is_shown and self.turn.summary is not None)
        for offer in (self.go_on, self.keep_going):
            offer.hide()  # `apply` brings back what is still offered


def details_tooltip(turn: Turn) -> str:
    usage = turn.usage
    if not has_details(usage):
        return ""
    below = (prefix_end_text(usage), usage_times(usage), finish_text(turn))
    return as_table((*round_rows(turn), *usage_rows(usage)), below)


def _offer(text: str, tip: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setToolTip(tip)
    button.hide()
    return button
