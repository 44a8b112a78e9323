"""A column for each step: its rows by sequence, its time, and what held it up.

Holds what is in view and what is chosen; `step_picture` paints it. GUI thread.
"""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from app.inspector.recording import Recording
from app.inspector.step_columns import USUAL_ZOOM, ZOOMS, Excerpt, Height
from app.inspector.step_picture import PHASE_WORDS, PHASES, paint_steps
from app.look.figures import count, decimal, milliseconds, rows
from app.look.fonts import small_font, tabular
from app.look.plain_text import as_table
from app.look.tokens import current
from app.look.words import tr
from app.protocol.events import Encoded
from app.protocol.report import StepReport

DRAG = 4  # pixels that make a click a drag
Key = Qt.Key


class StepChart(QAbstractScrollArea):
    step_chosen = Signal(int)  # number of a step
    following_changed = Signal(bool)

    def __init__(self, recording: Recording, parent: QWidget) -> None:
        super().__init__(parent)
        self.recording = recording
        self.is_following = True
        self.chosen_step: int | None = None
        self.chosen_seq: int | None = None
        self._height_of = Height.MILLISECONDS
        self._zoom = USUAL_ZOOM
        self._left = 0  # see `Excerpt`
        self._pressed_at: tuple[QPointF, int] | None = None
        self._is_dragged = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(tabular(small_font()))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAccessibleName(tr("Steps"))
        self.horizontalScrollBar().valueChanged.connect(self._go_to)

    @property
    def excerpt(self) -> Excerpt:
        columns, width = self.recording.columns, self.viewport().width()
        return Excerpt(columns, self._left, self._zoom, width, self._height_of)

    def show_recording(self, recording: Recording) -> None:
        self.recording = recording
        self.chosen_step = self.chosen_seq = None
        self.follow(True)

    def refresh(self) -> None:
        """There are new steps, or another size."""
        excerpt = self.excerpt
        self._left = excerpt.most_left if self.is_following else max(self._left, excerpt.least_left)
        bar = self.horizontalScrollBar()
        was_blocked = bar.blockSignals(True)
        bar.setRange(excerpt.least_left, excerpt.most_left)
        bar.setPageStep(excerpt.num_fitting)
        bar.setSingleStep(max(1, excerpt.num_fitting // 20))
        bar.setValue(self._left)
        bar.blockSignals(was_blocked)
        self.viewport().update()

    def set_height_of(self, height_of: Height) -> None:
        self._height_of = height_of
        self.viewport().update()

    def follow(self, is_following: bool) -> None:
        if is_following != self.is_following:
            self.is_following = is_following
            self.following_changed.emit(is_following)
        self.refresh()

    def zoom(self, levels: int, at_x: float | None = None) -> None:
        """In by so many levels, around this place, or else around the chosen step or the newest one."""
        before = self.excerpt
        if levels < 0 and before.has_all:
            return
        x = self._anchor_x(before) if at_x is None else at_x
        place = (self._left + x / before.column_width) * before.steps_per_column
        self._zoom = max(0, min(len(ZOOMS) - 1, self._zoom + levels))
        after = self.excerpt
        if self.is_following and at_x is None:
            self.refresh()
        else:
            self._go_to(round(place / after.steps_per_column - x / after.column_width))

    def pan(self, num_columns: int) -> None:
        self._go_to(self._left + num_columns)

    def choose_step(self, step: int | None) -> None:
        self.chosen_step = step
        index, excerpt = self.chosen_index, self.excerpt
        if index is not None and not 0 <= excerpt.x_of(index) < excerpt.num_fitting * excerpt.column_width:
            self._go_to(excerpt.column_of(index) - excerpt.num_fitting // 2)
        self.viewport().update()

    def choose_sequence(self, seq_id: int | None) -> None:
        """The others are faded."""
        self.chosen_seq = seq_id
        self.viewport().update()

    @property
    def chosen_index(self) -> int | None:
        return self.recording.columns.index_of(self.chosen_step) if self.chosen_step is not None else None

    def _anchor_x(self, excerpt: Excerpt) -> int:
        x = excerpt.x_of(self.chosen_index) if self.chosen_index is not None else -1
        return x if 0 <= x < excerpt.width else excerpt.width

    def _go_to(self, left: int) -> None:
        """Leaving the newest step ends the following."""
        excerpt = self.excerpt
        self._left = max(excerpt.least_left, min(left, excerpt.most_left))
        self.follow(self._left == excerpt.most_left)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if sideways := delta.x() or (delta.y() if is_shifted else 0):
            self.pan(round(-sideways / 120 * max(1, self.excerpt.num_fitting / 10)))
        elif delta.y():
            self.zoom(1 if delta.y() > 0 else -1, event.position().x())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        num_fitting = self.excerpt.num_fitting
        is_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        match event.key():
            case Key.Key_Left | Key.Key_Right as key:
                direction = -1 if key == Key.Key_Left else 1
                if is_control:
                    self.pan(direction * max(1, num_fitting // 10))
                else:
                    self._choose_neighbour(direction)
            case Key.Key_PageUp:
                self.pan(-num_fitting)
            case Key.Key_PageDown:
                self.pan(num_fitting)
            case Key.Key_Home:
                self._go_to(0)
            case Key.Key_End:
                self.follow(True)
            case Key.Key_Plus | Key.Key_Equal:
                self.zoom(1)
            case Key.Key_Minus:
                self.zoom(-1)
            case _:
                event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = (event.position(), self._left)
            self._is_dragged = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed_at is None:
            return
        begin, left = self._pressed_at
        distance = event.position().x() - begin.x()
        if self._is_dragged or abs(distance) >= DRAG:
            self._is_dragged = True
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            self._go_to(left - round(distance / self.excerpt.column_width))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.viewport().unsetCursor()
        if self._pressed_at and not self._is_dragged:
            self._choose(self.excerpt.index_at(event.position().x()))
        self._pressed_at = None

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tip(event.pos(), event.globalPos())
            return True
        return super().viewportEvent(event)

    def _choose(self, index: int | None) -> None:
        if index is not None:
            self.step_chosen.emit(int(self.recording.columns.figures["step"][index]))

    def _choose_neighbour(self, direction: int) -> None:
        """Chooses the step beside the chosen one; at first the newest."""
        newest = len(self.recording.columns) - 1
        index = self.chosen_index
        if newest >= 0:
            self._choose(newest if index is None else max(0, min(newest, index + direction)))

    def _show_tip(self, place: QPoint, on_screen: QPoint) -> None:
        index = self.excerpt.index_at(place.x())
        if index is None:
            QToolTip.hideText()
        else:
            words = step_words(self.recording, index)
            tip = as_table(((words.name, words.rows), *words.times), words.causes)
            QToolTip.showText(on_screen, tip, self.viewport())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setFont(self.font())
        place = self.viewport().rect()
        paint_steps(painter, place, self.excerpt, self.chosen_index, self.chosen_seq)
        if self.hasFocus():
            painter.setPen(QColor(current().accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(place.adjusted(0, 0, -1, -1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._left = min(self._left, self.excerpt.most_left)
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(480, 190)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 130)


@dataclass(frozen=True, slots=True)
class StepWords:
    name: str
    rows: str
    times: tuple[tuple[str, str], ...]  # name and length of each phase
    causes: tuple[str, ...]  # sentences about what held it up

    @property
    def head(self) -> str:
        return f"{self.name} · {self.rows}"

    @property
    def all_times(self) -> str:
        return " · ".join(f"{phase} {length}" for phase, length in self.times)


def step_words(recording: Recording, index: int) -> StepWords:
    """`index` is a row of the recording's columns."""
    figures = recording.columns.figures[index]
    return StepWords(
        tr("Step {number}", number=count(figures["step"])),
        rows(int(figures["num_rows"])),
        tuple((tr(PHASE_WORDS[phase]), _length(float(figures[f"{phase}_ms"]))) for phase in PHASES),
        tuple(cause.text for cause in recording.causes_at(index)),
    )


def encode_times(report: StepReport | None) -> str:
    """The time it took to encode pictures and sounds before this step. Empty without any."""
    events = report.events if report else ()
    times = [event.ms for event in events if isinstance(event, Encoded) and event.ms]
    return tr("encoding before it {time}", time=" + ".join(map(milliseconds, times))) if times else ""


def _length(duration_ms: float) -> str:
    """A small model's phases take hundredths of a millisecond."""
    return (
        tr("{number} ms", number=decimal(duration_ms, 2)) if duration_ms < 10 else milliseconds(duration_ms)
    )
