"""Paints an excerpt of steps: what held them up, columns by sequence, a strip by phase, numbers, a legend.

The columns are one image a pixel wide each, so that a frame costs the same however many steps share them.
GUI thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.stalls import Stall
from app.inspector.step_columns import KINDS, Excerpt, Height
from app.look.figures import count
from app.look.fonts import small_font
from app.look.painted import flowed
from app.look.tokens import SEQUENCE_COLOURS, Tokens, colour_of, current, mixed
from app.look.words import locale, mark, tr

MARKS_HEIGHT = 14
STRIP_HEIGHT = 26
AXIS_HEIGHT = 16
SPACE = 3
MARK_SIDE = 9  # pixels: of marks that are closer than this only the worst is drawn
LABEL_WIDTH = 96
MIN_GAP_WIDTH = 3  # narrower columns have no page between them

# Places in the colour table: 0 is the page; prompt, answer and draft tokens of each sequence; all these
# faded; the phases.
NUM_COLOURS = len(SEQUENCE_COLOURS)
FADED = len(KINDS) * NUM_COLOURS
PHASE_COLOURS = 1 + 2 * FADED

Image = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Colours = npt.NDArray[np.uint8]
PHASES = ("schedule", "decode", "sample", "deliver")
PHASE_WORDS = {
    "schedule": mark("schedule"),
    "decode": mark("decode"),
    "sample": mark("sample"),
    "deliver": mark("deliver"),
}
LEGEND_HEIGHT = 22
SWATCH = 9
LEGEND_SPACE = 12
MARGIN = 8
MARKS = {
    Stall.FAILED: mark("failed"),
    Stall.HELD_UP: mark("held up"),
    Stall.PAUSED: mark("paused"),
    Stall.NO_WORK: mark("no work"),
}


def paint_steps(
    painter: QPainter, place: QRect, excerpt: Excerpt, chosen: int | None, chosen_seq: int | None
) -> None:
    """`chosen` is a row of the recording's columns; with `chosen_seq` the other sequences are faded."""
    tokens = current()
    painter.fillRect(place, QColor(tokens.window))
    places = _Places.within(place)
    if len(excerpt.shown):
        _Picture(painter, places, excerpt, tokens).paint(chosen, chosen_seq)


def answer_colour(colour: QColor, tokens: Tokens) -> QColor:
    """The colour of an answer's rows: lighter than that of its prompt."""
    return mixed(colour, QColor(tokens.window), 0.45)


def drafted_colour(colour: QColor, tokens: Tokens) -> QColor:
    """The colour of an answer's draft tokens: lighter still."""
    return mixed(colour, QColor(tokens.window), 0.72)


def phase_colours(tokens: Tokens) -> tuple[QColor, ...]:
    """In the order of `PHASES`."""
    accent, page = QColor(tokens.accent), QColor(tokens.window)
    return QColor(tokens.muted), accent, mixed(accent, page, 0.3), mixed(accent, page, 0.65)


def paint_mark(painter: QPainter, centre: QPointF, stall: Stall, tokens: Tokens) -> None:
    """A shape and a colour for each kind."""
    painter.setPen(Qt.PenStyle.NoPen)
    x, y = centre.x(), centre.y()
    if stall is Stall.NO_WORK:
        painter.setBrush(QColor(tokens.muted))
        painter.drawEllipse(centre, 1.6, 1.6)
    elif stall is Stall.PAUSED:
        painter.setBrush(QColor(tokens.text))
        painter.drawRect(QRectF(x - 3.2, y - 4, 2.2, 8))
        painter.drawRect(QRectF(x + 1, y - 4, 2.2, 8))
    elif stall is Stall.HELD_UP:
        painter.setBrush(QColor(tokens.warning))
        painter.drawPolygon(
            QPolygonF([QPointF(x - 4.2, y - 3.4), QPointF(x + 4.2, y - 3.4), QPointF(x, y + 4)])
        )
    elif stall is Stall.FAILED:
        painter.setPen(QPen(QColor(tokens.danger), 2))
        painter.drawLine(QPointF(x - 3.4, y - 3.4), QPointF(x + 3.4, y + 3.4))
        painter.drawLine(QPointF(x - 3.4, y + 3.4), QPointF(x + 3.4, y - 3.4))


@dataclass(frozen=True)
class _Places:
    """From top to bottom."""

    marks: QRect
    columns: QRect
    strip: QRect
    axis: QRect

    @classmethod
    def within(cls, place: QRect) -> _Places:
        width, top = place.width(), place.top()
        height = max(24, place.height() - MARKS_HEIGHT - STRIP_HEIGHT - AXIS_HEIGHT - 2 * SPACE)
        marks = QRect(0, top, width, MARKS_HEIGHT)
        columns = QRect(0, marks.bottom() + 1, width, height)
        strip = QRect(0, columns.bottom() + 1 + 2 * SPACE, width, STRIP_HEIGHT)
        return cls(marks, columns, strip, QRect(0, strip.bottom() + 1, width, AXIS_HEIGHT))


class _Picture:
    def __init__(self, painter: QPainter, places: _Places, excerpt: Excerpt, tokens: Tokens) -> None:
        self._painter = painter
        self._places = places
        self._excerpt = excerpt
        self._tokens = tokens
        self._is_in_ms = excerpt.height_of is Height.MILLISECONDS
        self._top = scale_for(excerpt.heights, 0.1 if self._is_in_ms else 1.0)
        self._phases = [name for name in PHASES if name != "decode" or not self._is_in_ms]
        whole = np.sum([excerpt.figures[f"{name}_ms"] for name in self._phases], axis=0)
        self._strip_top = scale_for(whole, 0.1)

    def paint(self, chosen: int | None, chosen_seq: int | None) -> None:
        places, colours = self._places, _colour_table(self._tokens)
        self._paint_image(places.columns, self._by_sequence(places.columns, chosen_seq), colours)
        self._paint_image(places.strip, self._by_phase(places.strip), colours)
        self._paint_space_between_columns()
        self._paint_cuts()
        self._paint_scale()
        self._paint_step_numbers()
        self._paint_marks()
        if chosen is not None:
            self._paint_chosen(chosen)

    # The images: shape (pixels, columns), of places in the colour table.

    def _by_sequence(self, place: QRect, chosen_seq: int | None) -> Image:
        """The height of a column is divided by each sequence's share of the rows."""
        height, rows = self._pixels(place), self._excerpt.rows
        heights = self._excerpt.heights[self._excerpt.shown] * (height / self._top)
        share = heights / np.maximum(1, self._excerpt.figure("num_rows"))
        seq_ids = [int(seq_id) for seq_id in np.flatnonzero(rows.any(axis=(0, 2)))]
        if not seq_ids:
            return np.zeros((height, len(heights)), np.uint8)
        layers = np.stack([rows[:, seq_id, kind] * share for seq_id in seq_ids for kind in KINDS])
        colours = [_colour_index(seq_id, kind, chosen_seq) for seq_id in seq_ids for kind in KINDS]
        return stacked(layers, np.array(colours, np.uint8), height)

    def _by_phase(self, place: QRect) -> Image:
        """The times that the columns above do not show."""
        height = self._pixels(place)
        times = np.stack([self._excerpt.figure(f"{name}_ms") for name in self._phases])
        colours = [PHASE_COLOURS + PHASES.index(name) for name in self._phases]
        return stacked(times * (height / self._strip_top), np.array(colours, np.uint8), height)

    def _pixels(self, place: QRect) -> int:
        return max(1, round(place.height() * self._painter.device().devicePixelRatioF()))

    def _paint_image(self, place: QRect, pixels: Image, colours: list[int]) -> None:
        height, num_columns = pixels.shape
        image = QImage(pixels.data, num_columns, height, num_columns, QImage.Format.Format_Indexed8)
        image.setColorTable(colours)
        image = image.convertToFormat(QImage.Format.Format_RGB32)  # the format that Qt scales fast
        width = num_columns * self._excerpt.column_width
        self._painter.drawImage(QRect(0, place.top(), width, place.height()), image)

    # What is drawn over them.

    def _paint_space_between_columns(self) -> None:
        width = self._excerpt.column_width
        top, height = self._places.columns.top(), self._places.strip.bottom() - self._places.columns.top() + 1
        if width >= MIN_GAP_WIDTH:
            for right in range(width - 1, (len(self._excerpt.shown) + 1) * width, width):
                self._painter.fillRect(right, top, 1, height, QColor(self._tokens.window))

    def _paint_cuts(self) -> None:
        """On what is higher than the scale."""
        width = self._excerpt.column_width
        for column in np.flatnonzero(self._excerpt.heights[self._excerpt.shown] > self._top):
            left = int(column) * width
            self._painter.fillRect(
                left, self._places.columns.top(), max(1, width - 1), 2, QColor(self._tokens.text)
            )

    def _paint_scale(self) -> None:
        painter, columns = self._painter, self._places.columns
        painter.setPen(QColor(self._tokens.hairline))
        for place in (columns, self._places.strip):
            painter.drawLine(0, place.bottom() + 1, place.right(), place.bottom() + 1)
        painter.setPen(QPen(QColor(self._tokens.hairline), 1, Qt.PenStyle.DotLine))
        for y in (columns.top(), columns.center().y()):
            painter.drawLine(0, y, columns.right(), y)
        top, strip_top = (locale().toString(scale, "g", 6) for scale in (self._top, self._strip_top))
        if self._is_in_ms:
            self._paint_label(columns, tr("{number} ms decode", number=top))
            self._paint_label(self._places.strip, tr("{number} ms outside decode", number=strip_top))
        else:
            self._paint_label(columns, tr("{number} rows", number=top))
            self._paint_label(self._places.strip, tr("{number} ms in all", number=strip_top))

    def _paint_label(self, place: QRect, text: str) -> None:
        """On a piece of page, so that it can be read over columns."""
        painter, metrics = self._painter, self._painter.fontMetrics()
        size = QSize(metrics.horizontalAdvance(text) + 8, metrics.height())
        ground = QColor(self._tokens.window)
        ground.setAlphaF(0.8)
        label = QRect(place.topLeft() + QPoint(2, 2), size)
        painter.fillRect(label, ground)
        painter.setPen(QColor(self._tokens.muted))
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_step_numbers(self) -> None:
        """At every so many columns, so that they keep their places while the columns move."""
        excerpt, axis = self._excerpt, self._places.axis
        steps = excerpt.figure("step")
        every = max(1, LABEL_WIDTH // excerpt.column_width)
        self._painter.setPen(QColor(self._tokens.muted))
        for column in range(-excerpt.left % every, len(steps), every):
            left = column * excerpt.column_width
            self._painter.drawLine(left, axis.top(), left, axis.top() + 4)
            place = QRect(left + 3, axis.top() + 2, LABEL_WIDTH - 3, axis.height() - 2)
            self._painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, count(int(steps[column])))

    def _paint_marks(self) -> None:
        """Paints the worst mark of each group of columns that is as wide as a mark."""
        excerpt, painter = self._excerpt, self._painter
        stalls, width = excerpt.stalls, excerpt.column_width
        every = max(1, -(-MARK_SIDE // width))
        y = self._places.marks.center().y()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for begin in range(-(excerpt.left % every), len(stalls), every):
            group = stalls[max(0, begin) : begin + every]
            if not group.any():
                continue
            column = max(0, begin) + int(group.argmax())
            stall, x = Stall(int(group.max())), (column + 0.5) * width
            if stall is Stall.FAILED:
                height = self._places.columns.bottom() - y - 6
                painter.fillRect(int(x), y + 6, 1, height, QColor(self._tokens.danger))
            paint_mark(painter, QPointF(x, y), stall, self._tokens)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_chosen(self, chosen: int) -> None:
        places, width = self._places, max(4, self._excerpt.column_width)
        self._painter.setPen(QColor(self._tokens.text))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        height = places.strip.bottom() - places.columns.top() + 3
        self._painter.drawRect(self._excerpt.x_of(chosen) - 1, places.columns.top() - 1, width, height)


def _colour_index(seq_id: int, kind: int, chosen_seq: int | None) -> int:
    is_faded = chosen_seq is not None and seq_id != chosen_seq
    return 1 + len(KINDS) * (seq_id % NUM_COLOURS) + kind + (FADED if is_faded else 0)


@cache
def _colour_table(tokens: Tokens) -> list[int]:
    page = QColor(tokens.window)
    vivid = [
        shade
        for colour in map(QColor, SEQUENCE_COLOURS)
        for shade in (colour, answer_colour(colour, tokens), drafted_colour(colour, tokens))
    ]
    faded = [mixed(colour, page, 0.8) for colour in vivid]
    return [colour.rgba() for colour in (page, *vivid, *faded, *phase_colours(tokens))]


def stacked(heights: Floats, colours: Colours, height: int) -> Colours:
    """An image of `height` rows: in each column the layers stand on each other, the first at the foot.

    `heights` in pixels, shape (layers, columns). What is higher than the image is cut. 0 is the ground.
    """
    num_layers, num_columns = heights.shape
    tops = height - np.clip(np.rint(np.cumsum(heights, axis=0)), 0, height).astype(np.intp)
    # Each place holds the colour's difference to the one above it; uint8 wraps around as intended.
    changes = np.zeros((height + 1, num_columns), np.uint8)
    columns = np.arange(num_columns)
    steps = colours - np.append(colours[1:], np.uint8(0))
    for layer in range(num_layers):
        changes[tops[layer], columns] += steps[layer]
    for above, row in pairwise(changes):  # row by row: numpy's own accumulate takes four times as long
        row += above
    return changes[:height]


def scale_for(values: npt.NDArray[np.floating[Any]], least: float) -> float:
    """The top of a scale that all but one in fifty fit below: `least` times 1, 2, 5, 10 and so on.

    One slow step must not make the others invisible, and a round top seldom changes.
    """
    wanted = float(np.percentile(values, 98)) if len(values) else 0.0
    top = least
    while True:
        for factor in (1, 2, 5):
            if wanted <= top * factor:
                return top * factor
        top *= 10


class StepLegend(QWidget):
    """Has as many lines as it takes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFont(small_font())
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(tr("Legend"))
        self.setAccessibleDescription(
            tr(
                "Full colour: prefill. Lighter: decode. Lightest: draft tokens. Marks: cross failed, "
                "triangle held up, two bars paused, dot no work."
            )
        )

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 240)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return round(self.places(width)[-1].bottom())

    def places(self, width: int) -> list[QRectF]:
        """One for each entry."""
        metrics = self.fontMetrics()
        widths = [SWATCH + 5 + metrics.horizontalAdvance(name) for name, _ in _entries(current())]
        places = flowed(widths, width - 2 * MARGIN, LEGEND_SPACE, LEGEND_HEIGHT)
        return [place.translated(MARGIN, 0) for place in places]

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for (name, sign), place in zip(_entries(tokens), self.places(self.width()), strict=True):
            centre = QPointF(place.left() + SWATCH / 2, place.center().y())
            if isinstance(sign, Stall):
                paint_mark(painter, centre, sign, tokens)
            else:
                painter.fillRect(QRectF(place.left(), centre.y() - SWATCH / 2, SWATCH, SWATCH), sign)
            painter.setPen(QColor(tokens.muted))
            text = place.adjusted(SWATCH + 5, 0, 0, 0)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, name)


def _entries(tokens: Tokens) -> list[tuple[str, QColor | Stall]]:
    """The most important entries first."""
    colour = colour_of(0)
    phases = dict(zip(PHASES, phase_colours(tokens), strict=True))
    return [
        (tr("prompt"), colour),
        (tr("answer"), answer_colour(colour, tokens)),
        (tr("drafted"), drafted_colour(colour, tokens)),
        *((tr(word), stall) for stall, word in MARKS.items()),
        *((tr(PHASE_WORDS[name]), phases[name]) for name in ("schedule", "sample", "deliver", "decode")),
    ]
