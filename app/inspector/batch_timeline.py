"""The batch timeline: every step as a column, and details of one step. GUI thread."""

from PySide6.QtCore import QByteArray, QModelIndex, QSize, Qt, Slot
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QSplitter, QStackedLayout, QWidget

from app.inspector.dock_panel import DockPanel
from app.inspector.panel_buttons import ChipButton
from app.inspector.recording import Recording
from app.inspector.step_chart import StepChart, StepWords, encode_times, step_words
from app.inspector.step_columns import Height
from app.inspector.step_picture import StepLegend
from app.inspector.step_rows import StepRows
from app.look.fonts import line_height, small_font, tabular
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.table import RowTable
from app.look.words import mark, tr
from app.protocol.report import StepReport

NO_MODEL = mark("No model is loaded. Choose one above the chat to see its steps here.")
NO_STEP = mark("No steps yet. Send a message: each step of the batcher becomes a column.")


class TimelinePanel(DockPanel):
    """Shows the chosen step below the columns; while none is chosen, the newest."""

    NAME = "timeline"
    TITLE = mark("Batches")
    SIZE, MIN_SIZE = QSize(600, 380), QSize(240, 180)

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self._shown: tuple[int, bool] | None = None  # the step shown in words: its number, chosen or newest
        self._report: StepReport | None = None
        self._highlighted: int | None = None  # the sequence that was chosen last
        self.chart = StepChart(recording, self)
        self.rows = StepRows(self)
        self.table = RowTable(tr("Rows of the step"), self.rows, self)
        self._head = _line(self)
        self._times = _line(self, "muted")
        self._drafts = _line(self, "muted", num_lines=2)
        self._causes = _line(self)
        self._causes.setWordWrap(True)
        self._make_buttons()
        self._lay_out()
        self.setFocusProxy(self.chart)
        self.chart.step_chosen.connect(self.step_selected)
        self.chart.step_chosen.connect(self.select_step)
        self.chart.following_changed.connect(self.follow.setChecked)
        self.table.clicked.connect(self._on_row_clicked)
        self.reset()

    def draw(self) -> None:
        self._pages.setCurrentIndex(1 if len(self.recording.columns) else 0)
        self.chart.refresh()
        self._show_step()
        self._drafts.setText(self.recording.drafts.all_in_words())
        self._drafts.setVisible(bool(self._drafts.text()))

    def reset(self) -> None:
        self._shown = None
        self.message.setText(tr(NO_STEP) if self.recording.model else self._no_model(NO_MODEL))
        self.highlight.setEnabled(False)
        self.highlight.setChecked(False)
        self.chart.show_recording(self.recording)
        if self.isVisible():
            self.draw()

    def select_sequence(self, seq_id: int) -> None:
        self._highlighted = seq_id
        self.highlight.setText(tr("Sequence {seq_id}", seq_id=seq_id))
        self.highlight.setEnabled(True)
        self.highlight.setChecked(True)
        self.chart.choose_sequence(seq_id)

    def select_step(self, step: int) -> None:
        self.chart.choose_step(step)
        if self.isVisible():
            self._show_step()

    def save_layout(self) -> QByteArray:
        return self._splitter.saveState()

    def restore_layout(self, layout: QByteArray) -> None:
        self._splitter.restoreState(layout)

    # The step below the columns.

    @property
    def shown_index(self) -> int | None:
        """Its row in the recording's columns."""
        columns = self.recording.columns
        chosen = self.chart.chosen_index
        return len(columns) - 1 if chosen is None and len(columns) else chosen

    def _show_step(self) -> None:
        index = self.shown_index
        if index is None:
            self.rows.apply(None, {}, {})
            return
        number = int(self.recording.columns.figures["number"][index])
        is_chosen = self.chart.chosen_index is not None
        if (number, is_chosen) != self._shown:
            self._shown = (number, is_chosen)
            self._report = self.recording.report_at(number)
            self._show_words(step_words(self.recording, index), is_chosen)
        self.rows.apply(self._report, self.recording.token_texts, self.recording.titles | dict(self.titles))
        self.ask_for_texts(self.rows.token_ids)

    def _show_words(self, words: StepWords, is_chosen: bool) -> None:
        code = self._report.return_code if self._report else None
        returned = tr("llama_decode returned {code}", code=code)
        self._head.setText(words.head if code is None else f"{words.head} · {returned}")
        times = " · ".join(part for part in (words.all_times, encode_times(self._report)) if part)
        self._times.setText(times)
        self.chart.setAccessibleDescription(f"{words.head} · {times}")
        # Not for the newest step: the rows below would jump with every step.
        causes = words.causes if is_chosen else ()
        self._causes.setText("\n".join(causes))
        self._causes.setVisible(bool(causes))

    @Slot(QModelIndex)
    def _on_row_clicked(self, index: QModelIndex) -> None:
        self.sequence_selected.emit(self.rows.seq_at(index.row()))

    # The bar above the columns.

    def _make_buttons(self) -> None:
        self.heights = QButtonGroup(self)
        heights = (
            (Height.MILLISECONDS, tr("ms"), tr("Column height: duration of each decode")),
            (Height.TOKENS, tr("tokens"), tr("Column height: rows of each batch")),
        )
        for height_of, name, tip in heights:
            button = ChipButton(name, tip, self, is_checkable=True)
            button.setChecked(height_of is Height.MILLISECONDS)
            button.clicked.connect(lambda _checked, height_of=height_of: self.chart.set_height_of(height_of))
            self.heights.addButton(button)
        self.zoom_out = ChipButton("−", tr("Show more steps (−, or the wheel)"), self)
        self.zoom_out.clicked.connect(lambda: self.chart.zoom(-1))
        self.zoom_in = ChipButton("+", tr("Show fewer steps (+, or the wheel)"), self)
        self.zoom_in.clicked.connect(lambda: self.chart.zoom(1))
        self.highlight = ChipButton(tr("Sequence"), tr("Dim all other sequences"), self, is_checkable=True)
        self.highlight.toggled.connect(self._on_highlight_toggled)
        self.follow = ChipButton(
            tr("Follow"), tr("Keep the latest step in view (End)"), self, is_checkable=True
        )
        self.follow.setChecked(True)
        self.follow.clicked.connect(self._on_follow_clicked)

    @Slot(bool)
    def _on_highlight_toggled(self, is_highlighted: bool) -> None:
        self.chart.choose_sequence(self._highlighted if is_highlighted else None)

    @Slot(bool)
    def _on_follow_clicked(self, is_following: bool) -> None:
        """Follow the newest step in the details below, too."""
        if is_following:
            self.chart.choose_step(None)
        self.chart.follow(is_following)
        self._show_step()

    def _lay_out(self) -> None:
        self.message.setMargin(16)
        page = QWidget(self)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.message)
        self._pages.addWidget(page)
        self._splitter = QSplitter(Qt.Orientation.Vertical, page)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self._upper_part())
        self._splitter.addWidget(self._lower_part())
        self._splitter.setStretchFactor(0, 2)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([640, 360])  # shares: the panel has no size yet
        vbox(self._splitter, on=page)

    def _upper_part(self) -> QWidget:
        part = QWidget(self)
        vbox(
            hbox(
                *self.heights.buttons(),
                STRETCH,
                self.highlight,
                self.zoom_out,
                self.zoom_in,
                self.follow,
                margins=(8, 4, 8, 4),
                spacing=2,
            ),
            (self.chart, 1),
            StepLegend(self),
            on=part,
            spacing=0,
        )
        return part

    def _lower_part(self) -> QWidget:
        part = QWidget(self)
        vbox(
            vbox(self._head, self._times, self._drafts, self._causes, margins=(12, 4, 12, 4), spacing=2),
            (self.table, 1),
            on=part,
            spacing=0,
        )
        return part


def _line(parent: QWidget, tone: str = "", num_lines: int = 1) -> PlainLabel:
    """A label whose text neither widens a dock nor pushes the columns away."""
    label = PlainLabel("", parent, tone)
    label.setFont(tabular(small_font()))
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    label.setMinimumHeight(num_lines * line_height(label.font()))
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
