"""The tasks that a call has handed out, side by side in its card, as they are worked on. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.chats.chat import Turn, TurnState
from app.chats.tasks import named_tasks, tasks_of
from app.chats.tool_use import ToolRound, ToolUse
from app.look.plain_text import as_tooltip, one_line
from app.look.words import mark, tr
from app.ui.message.markdown_column import discard
from app.ui.message.text_part import TextPart
from app.ui.message.tool_card import CallDetails
from app.ui.message.tool_words import Naming
from app.ui.transcript.compare_view import AnswerColumn, arrange_columns
from app.ui.transcript.turn_actions import Place
from app.ui.transcript.turn_view import NO_PROGRESS


class TaskColumn(AnswerColumn):
    stopped = Signal(object)  # the Turn

    def __init__(self, turn: Turn, use: ToolUse, task: str, number: int, parent: QWidget) -> None:
        super().__init__(turn, parent)
        self._use, self._task, self._number = use, task, number
        self.keep.clicked.disconnect()
        self.keep.clicked.connect(self._on_clicked)

    @property
    def _is_growing(self) -> bool:
        return self.turn.state is TurnState.STREAMING

    def _on_clicked(self) -> None:
        (self.stopped if self._is_growing else self.kept).emit(self.turn)

    def _show_head(self, place: Place) -> None:
        name = one_line(self._task)
        self._head.setText(name)
        self._head.setToolTip(as_tooltip(self._task))
        self.setAccessibleName(tr("Task {number}: {task}", number=self._number, task=name))
        self.keep.setText(tr("Stop") if self._is_growing else tr("Open"))
        tip = mark("Once all of them have ended") if place.is_busy else mark("Go on from this answer")
        self.keep.setToolTip("" if self._is_growing else tr(tip))
        name = mark("Stop task {number}") if self._is_growing else mark("Open task {number}")
        self.keep.setAccessibleName(tr(name, number=self._number))
        self.keep.setEnabled(self._is_growing or not place.is_busy)

    @property
    def _shown_rounds(self) -> list[ToolRound]:
        """Its own: those behind the call."""
        rounds = self.turn.rounds
        before = (number for number, one in enumerate(rounds) if any(u.id == self._use.id for u in one.uses))
        return rounds[next(before, -1) + 1 :]


class TaskColumns(CallDetails):
    opened = Signal(object)  # the Turn
    stopped = Signal(object)  # the Turn
    decided = Signal(object, object)  # the ToolUse, a Decision

    def __init__(
        self,
        use: ToolUse,
        answer: Turn,
        place: Callable[[], Place],
        naming: Naming,
        zoom: int,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._use, self._answer, self._place = use, answer, place
        self._naming, self._zoom = naming, zoom
        self.columns: list[TaskColumn] = []

    def apply(self) -> bool:
        place = self._place()
        turns = tasks_of(self._use, self._answer, place.versions)
        has_changed = [column.turn for column in self.columns] != turns
        if has_changed:
            self._make_columns(turns)
        for column in self.columns:
            has_changed |= column.apply(place, goes_on=False)
            column.show_progress(NO_PROGRESS)
        return has_changed

    def _make_columns(self, turns: list[Turn]) -> None:
        for column in self.columns:
            discard(column)
        tasks = named_tasks(self._use)
        self.columns = [
            TaskColumn(turn, self._use, task, number, self)
            for number, (turn, task) in enumerate(zip(turns, tasks, strict=False), start=1)
        ]
        for column in self.columns:
            column.set_zoom(self._zoom)
            column.rounds.naming = self._naming
            column.kept.connect(self.opened)
            column.stopped.connect(self.stopped)
            column.rounds.decided.connect(self.decided)
            column.rounds.height_changed.connect(self.height_changed)
            column.body.height_changed.connect(self.height_changed)
            column.show()

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for column in self.columns:
            column.set_zoom(zoom)

    @property
    def is_empty(self) -> bool:
        return not self.columns

    def arrange(self, width: int) -> int:
        height = arrange_columns(self.columns, width, 0)
        self.setFixedSize(width, height)
        return height

    def text_parts(self) -> list[TextPart]:
        return [part.under(n) for n, column in enumerate(self.columns) for part in column.text_parts()]
