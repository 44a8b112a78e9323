"""The stepping panel: pause, see the next batch before it is computed, continue. GUI thread."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QModelIndex, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.inspector.chat_names import chat_name
from app.inspector.dock_panel import DockPanel
from app.inspector.panel_buttons import ActionButton, new_action
from app.inspector.recording import Recording
from app.inspector.step_rows import StepRows
from app.inspector.stop_choice import StopChoice
from app.look.buttons import IconLabel
from app.look.figures import count, rows
from app.look.fonts import small_font, tabular
from app.look.icons import icon
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.table import ROW_HEIGHT, Column, RowModel, RowTable
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.protocol.commands import Command, Pause, Resume, RunUntil, StepOnce
from app.protocol.report import PauseState, Span, StepReport

RUNNING = mark("Pause to see each batch before it is computed. Chats wait meanwhile; Stop still works.")
NO_MODEL = mark("No model is loaded. Choose one above the chat to step through its batches.")
RECORDED = mark("This is a recording. Only a running engine can be paused.")
NOTHING_PLANNED = mark("Nothing planned. Send a message in any tab to see its first batch here.")
SHARE_COLUMNS = (
    Column("seq", "A chat's place in the shared context (llama.cpp's seq_id)", "00", is_sequence=True),
    Column("tab", "The chat", stretches=True),
    Column(
        "phase",
        "Part of a prompt, or the next token of an answer",
        (mark("prefill"), mark("decode")),
        is_muted=True,
    ),
    Column("rows", "Rows of the batch", "9,999", is_number=True),
    Column("drafted", "Draft tokens among them", "99", is_number=True),
    Column("positions", "Positions computed in this step", "99,999–99,999", is_number=True),
    Column("logits", "Whether logits are read from its rows to sample a token", mark("last row")),
    Column(
        "answer",
        "Tokens generated so far, and the most that were asked for",
        mark("9,999 of 9,999"),
        is_number=True,
    ),
)
MAX_ROWS_SHOWN = 6


def state_text(pause: PauseState | None, until: str) -> str:
    """Running or paused, and why."""
    if pause is None:
        return tr("Running until {condition}", condition=until) if until else tr("Running")
    return sentences(tr("Paused."), tr_said(pause.reason)) if pause.reason else tr("Paused")


def plan_text(pause: PauseState) -> str:
    num_rows = sum(span.num_rows for span in pause.planned)
    num_seqs = len({span.seq_id for span in pause.planned})
    num_logits = sum(span.wants_logits for span in pause.planned)
    num_drafted = sum(span.num_drafted for span in pause.planned)
    parts = {
        "rows": rows(num_rows),
        "sequences": tr_n("{n} sequence", "{n} sequences", num_seqs),
        "sampled": tr_n("{n} token is sampled", "{n} tokens are sampled", num_logits),
    }
    if not num_drafted:
        return tr("{rows} of {sequences}; {sampled}", **parts)
    drafted = tr_n("{n} draft token is checked", "{n} draft tokens are checked", num_drafted)
    return tr("{rows} of {sequences}; {sampled}, {drafted}", drafted=drafted, **parts)


class StepperPanel(DockPanel):
    """Its first three buttons are actions of the window: their keys work while the panel is hidden, too."""

    NAME = "stepper"
    TITLE = mark("Step through")
    SIZE, MIN_SIZE = QSize(600, 300), QSize(240, 160)

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.actions_of_step = StepActions(self)
        self.stop_choice = StopChoice(self)
        self.state = PlainLabel(parent=self)
        self._mark = IconLabel(14, self, "pause", "warning")
        self.shares = ShareModel(self)
        self.rows = StepRows(self)
        self.share_table = ShareTable(self.shares, self)
        self.row_table = RowTable(tr("Rows of the step"), self.rows, self)
        self._plan_head = heading(tr("Next batch"), self)
        self._plan = PlainLabel(parent=self, tone="muted")
        self._planned: StepReport | None = None  # its spans are those of the next batch
        self._until = ""  # what it runs until, in words
        self._left: PauseState | None = None  # the pause being ended, still in reports
        self._lay_out()
        self.setFocusProxy(self.stop_choice.condition)
        self.actions_of_step.commanded.connect(self._on_stepped)
        self.stop_choice.commanded.connect(self._on_commanded)
        self.share_table.selectionModel().currentRowChanged.connect(self._on_share_chosen)
        self.reset()

    @property
    def pause(self) -> PauseState | None:
        newest = self.recording.newest
        return newest.pause if newest and self.recording.is_live else None

    def draw(self) -> None:
        newest, pause = self.recording.newest, self.pause
        self.stop_choice.set_slots(newest.slots if newest else (), self.titles)
        if tokenized := self.recording.tokenized:
            self.stop_choice.set_tokens(tokenized)
        if pause and pause != self._left:
            self._until = ""
        self.state.setText(state_text(pause, self._until))
        self._mark.setVisible(pause is not None)
        self._show_plan(newest, pause)

    def reset(self) -> None:
        model = self.recording.model if self.recording.is_live else None
        self._planned, self._until = None, ""
        self.stop_choice.set_engine(model.max_sequence_tokens if model else 0)
        self.draw()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self._planned = None
        super().set_titles(titles)

    def select_sequence(self, seq_id: int) -> None:
        self.stop_choice.select_sequence(seq_id)
        number = next((n for n, span in enumerate(self.shares.spans) if span.seq_id == seq_id), None)
        if number is not None:
            self.share_table.selectRow(number)

    def _lay_out(self) -> None:
        self.state.setFont(tabular(small_font()))
        self._plan.setFont(tabular(small_font()))
        buttons = hbox(spacing=2)
        for action, text in zip(
            self.actions_of_step.all, (tr("Pause"), tr("Resume"), tr("Step")), strict=True
        ):
            action.setIconText(text)
            button = ActionButton(action, "chip", self)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setIconSize(QSize(14, 14))
            buttons.addWidget(button)
        buttons.addSpacing(10)
        buttons.addWidget(self._mark)
        buttons.addSpacing(2)
        buttons.addWidget(self.state, 1)
        vbox(
            vbox(
                buttons,
                self.stop_choice,
                4,
                hbox(self._plan_head, (self._plan, 1), spacing=12),
                margins=(12, 6, 12, 4),
                spacing=6,
            ),
            self.share_table,
            (self.row_table, 1),
            (self.message, 1),
            on=self,
            spacing=0,
        )
        self.message.setContentsMargins(24, 0, 24, 0)

    def _show_plan(self, newest: StepReport | None, pause: PauseState | None) -> None:
        has_plan = pause is not None and bool(pause.planned)
        for part in (self._plan_head, self._plan, self.share_table, self.row_table):
            part.setVisible(has_plan)
        self.message.setVisible(not has_plan)
        self.message.setText(self._why_empty(pause))
        if newest is None or pause is None or not has_plan:
            self._planned = None
            return
        if self._planned is None or self._planned.spans != pause.planned:
            self._planned = replace(newest, spans=pause.planned)
            self._plan.setText(plan_text(pause))
            self.shares.apply(pause.planned, self.titles)
            self.stop_choice.suggest(pause.planned[0].seq_id)
        self.rows.apply(self._planned, self.recording.token_texts, self.titles)
        self.ask_for_texts(self.rows.token_ids)

    def _why_empty(self, pause: PauseState | None) -> str:
        if not self.recording.is_live:
            return tr(RECORDED)
        if self.recording.model is None:
            return self._no_model(NO_MODEL)
        return tr(NOTHING_PLANNED if pause else RUNNING)

    @Slot()
    def _on_stepped(self) -> None:
        self._until = ""

    @Slot(object)
    def _on_commanded(self, command: Command) -> None:
        if isinstance(command, RunUntil):
            self._until, self._left = self.stop_choice.words, self.pause
        self.commanded.emit(command)

    @Slot(QModelIndex)
    def _on_share_chosen(self, current: QModelIndex) -> None:
        """Its rows come into view."""
        if not current.isValid():
            return
        before = self.shares.spans[: current.row()]
        first = self.rows.index(sum(span.num_rows for span in before), 0)
        self.row_table.scrollTo(first, self.row_table.ScrollHint.PositionAtTop)
        if self.share_table.hasFocus():
            self.sequence_selected.emit(self.shares.spans[current.row()].seq_id)


class StepActions(QObject):
    """Each is enabled where it would do something."""

    commanded = Signal(object)  # Command

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.pause = self._new(
            "engine.pause", tr("&Pause all chats"), tr("Stop computing; all chats wait"), "F8", Pause()
        )
        self.resume = self._new(
            "engine.resume", tr("&Resume all chats"), tr("Resume computing"), "F5", Resume()
        )
        self.step = self._new(
            "engine.step",
            tr("Run one s&tep"),
            tr("Compute the planned batch, then pause again"),
            "F10",
            StepOnce(),
        )
        self.all = (self.pause, self.resume, self.step)
        self.apply(is_paused=False, has_engine=False)
        for action, name in zip(self.all, ("pause", "play", "step-forward"), strict=True):
            action.setIcon(icon(name))
            action.setIconVisibleInMenu(False)

    def apply(self, *, is_paused: bool, has_engine: bool) -> None:
        self.pause.setEnabled(has_engine and not is_paused)
        self.resume.setEnabled(has_engine and is_paused)
        self.step.setEnabled(has_engine and is_paused)

    def _new(self, name: str, text: str, tip: str, shortcut: str, command: Command) -> QAction:
        action = new_action(name, text, tip, lambda: self.commanded.emit(command), self)
        action.setToolTip(f"{tip} ({shortcut})")
        action.setShortcut(shortcut)
        return action


def share_texts(span: Span, title: str) -> tuple[str, ...]:
    """A text for each column."""
    last_pos = span.first_pos + span.num_rows - 1
    made = count(span.num_generated_tokens)
    return (
        str(span.seq_id),
        title,
        tr("prefill") if span.is_prefill else tr("decode"),
        count(span.num_rows),
        count(span.num_drafted) if span.num_drafted else "",
        count(last_pos) if span.num_rows == 1 else f"{count(span.first_pos)}–{count(last_pos)}",
        _logits(span),
        tr("{part} of {whole}", part=made, whole=count(span.max_tokens)) if span.max_tokens else made,
    )


def _logits(span: Span) -> str:
    if not span.wants_logits:
        return tr("none")
    return rows(1 + span.num_drafted) if span.num_drafted else tr("last row")


class ShareModel(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(SHARE_COLUMNS, parent)
        self.spans: tuple[Span, ...] = ()
        self._titles: Mapping[str, str] = {}

    def apply(self, spans: tuple[Span, ...], titles: Mapping[str, str]) -> None:
        self.beginResetModel()
        self.spans, self._titles = spans, titles
        self.endResetModel()

    def num_rows(self) -> int:
        return len(self.spans)

    def text_at(self, row: int, column: int) -> str:
        span = self.spans[row]
        return share_texts(span, chat_name(span.chat_id, self._titles))[column]


class ShareTable(RowTable):
    """Its height is that of its rows, up to a few."""

    def __init__(self, shares: ShareModel, parent: QWidget) -> None:
        super().__init__(tr("Sequences in the batch"), shares, parent)
        self._shares = shares
        shares.modelReset.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        num_rows = min(max(self._shares.rowCount(), 1), MAX_ROWS_SHOWN)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + num_rows * ROW_HEIGHT + 4)
