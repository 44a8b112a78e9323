"""What the engine did, drawn at most ten times a second, and only while somebody can see it.

Of the engine it knows only the types of a report. GUI thread.
"""

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.engine.types import CellUsage, HibernatedChat, ModelInfo, SlotSnapshot, SlotState, StepReport
from app.inspector.cell_bar import CellBar
from app.inspector.hibernated_table import HibernatedTable, total_text
from app.inspector.slot_table import SlotModel, SlotTable
from app.inspector.step_view import StepView
from app.inspector.timeline import Timeline
from app.look.figures import count, rows
from app.look.fonts import small_font, tabular

PERIOD_MS = 100
MAX_EVENTS = 200
MARGIN = 16
WIDTH = 688
NO_MODEL = "No model is loaded. Open a GGUF file with Ctrl+O to see its slots and cells here."


class InspectorPanel(QWidget):
    chat_activated = Signal(str)  # chat_id of the clicked row

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._newest: StepReport | None = None
        self._pending: list[StepReport] = []
        self.slots = SlotModel(self)
        self.table = SlotTable(self.slots, self)
        self.hibernated = HibernatedTable(self)
        self.cells = CellBar(self)
        self.step = StepView(self)
        self.timeline = Timeline(self)
        self.events = _EventLines(self)
        self._pulse = QTimer(self)
        self._pulse.setInterval(PERIOD_MS)
        self._pulse.timeout.connect(self._draw_pending)
        self._lay_out()
        self.table.chat_activated.connect(self.chat_activated)
        self.hibernated.chat_activated.connect(self.chat_activated)
        self.set_model(None)

    def apply(self, reports: tuple[StepReport, ...]) -> None:
        """Cheap when hidden: keeps only the newest."""
        if not reports:
            return
        self._newest = reports[-1]
        if not self.isVisible():
            return
        self._pending.extend(reports)
        if not self._pulse.isActive():
            self._draw_pending()
            self._pulse.start()

    def set_model(self, model: ModelInfo | None) -> None:
        """A new model is a new context: what was seen of the old one goes."""
        self._newest = None
        self._pending.clear()
        self._pages.setCurrentIndex(1 if model else 0)
        self.slots.apply(_empty_slots(model))
        self.table.fit_columns(model.n_ctx if model else 0)
        self.table.fit_rows()
        self._show_cells(CellUsage(model.n_ctx if model else 0))
        self._show_hibernated(())
        self._show_step(None)
        self.timeline.clear()
        self.events.clear()

    def set_titles(self, titles: dict[str, str]) -> None:
        self.slots.set_titles(titles)
        self.hibernated.set_titles(titles)

    def sizeHint(self) -> QSize:
        """Room for the whole table."""
        return QSize(WIDTH, 640)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._newest:
            self._show_newest(self._newest)

    def _draw_pending(self) -> None:
        if not self._pending or not self.isVisible():
            self._pending.clear()
            self._pulse.stop()
            return
        reports, self._pending = self._pending, []
        self._show_newest(reports[-1])
        self.timeline.append(reports)
        self.events.append(reports)

    def _show_newest(self, report: StepReport) -> None:
        if len(report.slots) != self.slots.rowCount():
            self.slots.apply(report.slots)
            self.table.fit_rows()
        self.slots.apply(report.slots)
        self._show_cells(report.cells)
        self._show_hibernated(report.hibernated)
        if report.spans:  # else nothing was computed: a chat was closed, or an answer stopped
            self._show_step(report)

    def _show_cells(self, cells: CellUsage) -> None:
        self.cells.apply(cells)
        self._cells_head.setText(f"{count(cells.num_used)} / {count(cells.num_total)}")

    def _show_hibernated(self, chats: tuple[HibernatedChat, ...]) -> None:
        """Takes no room while there are none."""
        self.hibernated.apply(chats)
        self._hibernated_head.setText(total_text(chats))
        self._hibernated_section.setVisible(bool(chats))

    def _show_step(self, report: StepReport | None) -> None:
        self.step.apply(report)
        self._step_head.setText(f"#{count(report.step)} · {rows(report.num_rows)}" if report else "")

    def _lay_out(self) -> None:
        self._pages = QStackedLayout(self)
        self._pages.addWidget(_empty_page(self))
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 12, 0, 12)
        column.setSpacing(0)
        self._cells_head = self._section(column, "KV cells", self.cells)
        self._section(column, "Slots", self.table, is_wide=True)
        self._hibernated_section = QWidget(page)
        inner = QVBoxLayout(self._hibernated_section)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        self._hibernated_head = self._section(inner, "Hibernated", self.hibernated, is_wide=True)
        column.addWidget(self._hibernated_section)
        self._step_head = self._section(column, "Last step", self.step)
        self._section(column, "Decode time", self.timeline)
        self._section(column, "Events", self.events)
        self._pages.addWidget(_scrolling(page, self))

    def _section(self, column: QVBoxLayout, title: str, content: QWidget, is_wide: bool = False) -> QLabel:
        """A heading with a figure on its right, and what belongs to it."""
        row = QHBoxLayout()
        row.setContentsMargins(MARGIN, 0, MARGIN, 6)
        figure = QLabel(self)
        figure.setTextFormat(Qt.TextFormat.PlainText)
        figure.setFont(tabular(small_font()))
        row.addWidget(_heading(title, self))
        row.addStretch(1)
        row.addWidget(figure)
        inset = QHBoxLayout()
        inset.setContentsMargins(MARGIN - 6 if is_wide else MARGIN, 0, MARGIN - 6 if is_wide else MARGIN, 12)
        inset.addWidget(content)
        column.addLayout(row)
        column.addLayout(inset, 1 if content is self.events else 0)
        return figure


class _EventLines(QPlainTextEdit):
    """The rare things: evicted, paused, no room. Newest at the end."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMaximumBlockCount(MAX_EVENTS)
        self.setFont(tabular(small_font()))
        self.setPlaceholderText("Nothing out of the ordinary so far.")
        self.setTabChangesFocus(True)
        self.setAccessibleName("Events")
        self.setMinimumHeight(3 * self.fontMetrics().lineSpacing() + 8)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)

    def append(self, reports: list[StepReport]) -> None:
        for report in reports:
            for event in report.events:
                self.appendPlainText(f"#{count(report.step)}  {event}")


def _empty_slots(model: ModelInfo | None) -> tuple[SlotSnapshot, ...]:
    return tuple(SlotSnapshot(seq_id, SlotState.EMPTY) for seq_id in range(model.n_seq_max if model else 0))


def _heading(title: str, parent: QWidget) -> QLabel:
    label = QLabel(title, parent)
    font = QFont(label.font())
    font.setWeight(QFont.Weight.DemiBold)
    label.setFont(font)
    return label


def _empty_page(parent: QWidget) -> QWidget:
    page = QWidget(parent)
    column = QVBoxLayout(page)
    column.setContentsMargins(32, 32, 32, 32)
    label = QLabel(NO_MODEL, page)
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    column.addWidget(label)
    return page


def _scrolling(page: QWidget, parent: QWidget) -> QScrollArea:
    area = QScrollArea(parent)
    area.setWidget(page)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.viewport().setAutoFillBackground(False)
    page.setAutoFillBackground(False)
    return area
