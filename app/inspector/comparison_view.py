"""How far two models are from each other: as tints of the text, as a chart, token by token. GUI thread."""

import math
from bisect import bisect_right

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QTextCharFormat
from PySide6.QtWidgets import QWidget

from app.inspector.answer_finder import chance
from app.inspector.lens_view import MAX_TINTED, HeatView, runs
from app.inspector.recording import shown
from app.inspector.token_tint import STEPS, swatch
from app.look.figures import count, decimal
from app.look.fonts import small_font, tabular
from app.look.table import Column, RowModel
from app.look.tokens import current
from app.look.words import tr
from app.protocol.comparison import Comparison

BOUNDS = (0.03, 0.2, 0.6)  # nats from which on a token is tinted, by STEPS
HEIGHT, TOP, TICK = 56, 14, 3  # of the chart
_CHANCES = (">99.9%", "<0.001%")
COLUMNS = (
    Column(
        "token", "The token's text: ␣ is a space, ⏎ a newline, \\x one byte of a character", stretches=True
    ),
    Column(
        "KL",
        "KL divergence in nats: how much of what the base expected here the other one misses",
        "0.000",
        is_number=True,
    ),
    Column("base", "Probability of the token with the base", _CHANCES, is_number=True),
    Column("rank", "Rank of the token with the base", "999,999", is_number=True, is_muted=True),
    Column("other", "Probability of the token with the other model", _CHANCES, is_number=True),
    Column("rank", "Rank of the token with the other model", "999,999", is_number=True, is_muted=True),
)
TOKEN, KL = range(2)
RANKS = (3, 5)


def level_of(kl: float) -> int:
    """Of STEPS; 0: no tint."""
    return bisect_right(BOUNDS, kl)


def kl_legend() -> str:
    """The steps as HTML."""
    bounds = enumerate(BOUNDS, start=1)
    return " ".join(swatch(f"≥ {decimal(bound, 2)}", *STEPS[level][1:]) for level, bound in bounds)


class ComparedTokens(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self.found: Comparison | None = None

    def show(self, found: Comparison | None) -> None:
        self.beginResetModel()
        self.found = found
        self.endResetModel()

    def num_rows(self) -> int:
        return len(self.found.pieces) if self.found else 0

    def text_at(self, row: int, column: int) -> str:
        assert self.found
        place = row - self.found.num_given
        if column == TOKEN:
            return shown(self.found.pieces[row])
        if place < 0:
            return ""
        if column == KL:
            return decimal(self.found.kl[place], 3)
        side, is_rank = divmod(column - KL - 1, 2)
        if is_rank:
            return count(self.found.ranks[side][place])
        return chance(math.exp(self.found.logprobs[side][place]))

    def bar_at(self, row: int, column: int) -> tuple[float, str] | None:
        assert self.found
        place = row - self.found.num_given
        if column != KL or place < 0 or not (level := level_of(self.found.kl[place])):
            return None
        return min(math.sqrt(self.found.kl[place]), 1.0), getattr(current(), STEPS[level][1])


class ComparedText(HeatView):
    def show_comparison(self, found: Comparison, chosen: int | None) -> None:
        """`chosen` is a token of it."""
        levels = [0] * found.num_given + list(map(level_of, found.kl.tolist()))
        tinted = [(run, level) for run, level in runs(levels) if level]
        if len(tinted) > MAX_TINTED:
            tinted = [(run, level) for run, level in tinted if level == len(BOUNDS)][:MAX_TINTED]
        selections = [self._selection(run, _tinted(level)) for run, level in tinted]
        if chosen is not None:
            form = QTextCharFormat()
            form.setBackground(QColor(current().accent))
            form.setForeground(QColor(current().on_accent))
            selections.append(self._selection((chosen, chosen + 1), form))
        self.setExtraSelections(selections)


def _tinted(level: int) -> QTextCharFormat:
    _, name, share = STEPS[level]
    form, tint = QTextCharFormat(), QColor(getattr(current(), name))
    tint.setAlphaF(share)
    form.setBackground(tint)
    form.setFontUnderline(level == len(BOUNDS))  # colour alone says nothing
    return form


class DivergenceChart(QWidget):
    """A bar for each token, or for several the largest of them; a tick below where the choices differ."""

    token_clicked = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._found: Comparison | None = None
        self._chosen: int | None = None
        self.setFixedHeight(HEIGHT)
        self.setFont(tabular(small_font()))
        self.setAccessibleName(tr("KL divergence by token"))

    def show_comparison(self, found: Comparison | None, chosen: int | None) -> None:
        self._found, self._chosen = found, chosen
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._found is None:
            return
        painter, colours, found = QPainter(self), current(), self._found
        most, partings = max(float(found.kl.max()), BOUNDS[-1]), set(found.partings)
        room = self.height() - TOP - TICK - 1
        for column in range(self._num_columns):
            token, left, width = self._farthest(column), self._x(column), max(self._x(column + 1), 1.0)
            kl = float(found.kl[token - found.num_given])
            bar = QRectF(left, TOP, max(width - left, 1.0), room)
            bar.setTop(bar.bottom() - room * math.sqrt(kl / most))
            level = level_of(kl)
            painter.fillRect(bar, QColor(getattr(colours, STEPS[level][1] if level else "muted")))
            if not partings.isdisjoint(self._tokens(column)):
                tick = QRectF(left, self.height() - TICK, bar.width(), TICK)
                painter.fillRect(tick, QColor(colours.accent))
            if self._chosen in self._tokens(column):
                painter.fillRect(QRectF(left, 0, max(bar.width(), 2.0), TOP - 2), QColor(colours.accent))
        painter.setPen(QColor(colours.muted))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignRight, decimal(most, 2))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._found and event.button() == Qt.MouseButton.LeftButton:
            column = int(event.position().x() * self._num_columns / max(self.width(), 1))
            self.token_clicked.emit(self._farthest(max(0, min(column, self._num_columns - 1))))

    @property
    def _num_columns(self) -> int:
        return min(len(self._found.kl), self.width()) if self._found else 0

    def _x(self, column: int) -> float:
        return column * self.width() / self._num_columns

    def _tokens(self, column: int) -> range:
        assert self._found
        num_places, given = len(self._found.kl), self._found.num_given
        ends = (given + at * num_places // self._num_columns for at in (column, column + 1))
        return range(*ends)

    def _farthest(self, column: int) -> int:
        assert self._found
        kl, given = self._found.kl, self._found.num_given
        return max(self._tokens(column), key=lambda token: kl[token - given])
