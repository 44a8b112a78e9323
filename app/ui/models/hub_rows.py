"""Repositories as rows: the recommended ones, or the results of a search. GUI thread.

Pure functions make the texts; a delegate paints three lines and how well a model fits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from app.look.figures import count, data_size, num_params
from app.look.fonts import line_height, small_font
from app.look.icons import paint_icon
from app.look.list import AT_RIGHT, ROW, Index, ListDelegate, draw_text, in_weight, paint_row_ground
from app.look.plain_text import as_tooltip, one_line
from app.look.tokens import Tokens, current
from app.look.words import mark, tr, tr_n, tr_said
from app.models.hub import Repo
from app.models.memory_fit import Fit
from app.models.recommended import Recommended, largest_that_fits, need_bytes
from app.services.model_fits import Fitting
from app.ui.models.library_table import FIT_COLOURS, FIT_ICONS, fit_text

_ROOT = QModelIndex()
INSET, MARK = 10, 14
LINE_ROOM = 4
BETWEEN = "  ·  "
FITS = {Fit.FITS: mark("fits"), Fit.TIGHT: mark("tight"), Fit.TOO_LARGE: mark("too large")}
GATED = mark("terms required")
START = mark("start with this one: the largest that fits well")


@dataclass(frozen=True, slots=True)
class HubRow:
    repo_id: str
    title: str
    second: str
    third: str
    fitting: Fitting | None = None
    is_gated: bool = False
    quantisation: str = ""  # of the file that is recommended
    is_start: bool = False  # the one to begin with on this machine: its row has a button

    @property
    def badge(self) -> str:
        if self.is_start:
            return tr(START)
        if self.fitting:
            return tr(FITS[self.fitting.fit])
        return tr(GATED) if self.is_gated else ""

    @property
    def spoken(self) -> str:
        return ", ".join(text for text in (self.title, self.badge, self.second, self.third) if text)


def recommended_row(recommended: Recommended, free_bytes: int) -> HubRow:
    size = recommended.approximate_bytes
    facts = (
        tr("{number} parameters", number=num_params(recommended.num_params)),
        tr("about {size}", size=data_size(size)),
        tr("{size} memory", size=data_size(need_bytes(size))),
        recommended.licence,
    )
    return HubRow(
        repo_id=recommended.repo_id,
        title=recommended.name,
        second=tr_said(recommended.purpose),
        third=BETWEEN.join(facts),
        fitting=fitting_of(size, free_bytes),
        quantisation=recommended.quantisation,
        is_start=recommended is largest_that_fits(free_bytes),
    )


def found_row(repo: Repo) -> HubRow:
    owner, name = repo.id.split("/", 1) if "/" in repo.id else ("", repo.id)
    size = tr("{number} parameters", number=num_params(repo.num_params)) if repo.num_params else ""
    return HubRow(
        repo_id=repo.id,
        title=one_line(name),
        second=BETWEEN.join(text for text in (one_line(owner), size, repo.licence) if text),
        third=popularity_text(repo),
        is_gated=repo.is_gated,
    )


def popularity_text(repo: Repo) -> str:
    downloads, likes = repo.num_downloads, repo.num_likes
    return BETWEEN.join(
        (
            tr_n(
                "{number} download a month", "{number} downloads a month", downloads, number=count(downloads)
            ),
            tr_n("{number} like", "{number} likes", likes, number=count(likes)),
        )
    )


def fitting_of(size_bytes: int, free_bytes: int, beside_bytes: int = 0) -> Fitting | None:
    """Judged by its size alone if necessary. None: the free memory is not known yet."""
    return Fitting(need_bytes(size_bytes, beside_bytes), free_bytes) if free_bytes else None


class HubRows(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[HubRow, ...] = ()

    def apply(self, rows: Sequence[HubRow]) -> None:
        """If the models are the same, only their data are redrawn."""
        if [row.repo_id for row in rows] == [row.repo_id for row in self._rows]:
            self._rows = tuple(rows)
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
        else:
            self.beginResetModel()
            self._rows = tuple(rows)
            self.endResetModel()

    def row_at(self, index: Index) -> HubRow | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken
        if role == Qt.ItemDataRole.ToolTipRole and row.fitting:
            return as_tooltip(fit_text(row.fitting))
        return None


class HubDelegate(ListDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        text_height = line_height(option.font) + 2 * line_height(small_font())
        return QSize(200, text_height + 2 * LINE_ROOM + 8)

    def updateEditorGeometry(self, button: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        """A row's button stands at its lower right."""
        size = button.sizeHint()
        corner = option.rect.bottomRight() - QPoint(INSET + size.width(), LINE_ROOM + size.height())
        button.setGeometry(QRect(corner, size))

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, _index: Index, row: HubRow) -> None:
        tokens, small, font = current(), small_font(), option.font
        has_focus = bool(option.state & QStyle.StateFlag.State_HasFocus)
        paint_row_ground(painter, option.rect, option.state, is_framed=has_focus)
        rect = option.rect.adjusted(INSET, LINE_ROOM + 2, -INSET, -LINE_ROOM - 2)
        top = QRect(rect.left(), rect.top(), rect.width(), line_height(font))
        room = self._paint_badge(painter, top, row, tokens)
        title = top.adjusted(0, 0, -room, 0)
        draw_text(painter, title, row.title, tokens.text, in_weight(font, QFont.Weight.Medium))
        line = QRect(rect.left(), top.bottom() + 3, rect.width(), line_height(small))
        draw_text(painter, line, row.second, tokens.text, small)
        draw_text(painter, line.translated(0, line_height(small) + 2), row.third, tokens.muted)

    def _paint_badge(self, painter: QPainter, rect: QRect, row: HubRow, tokens: Tokens) -> int:
        """At the right. Returns the width it took."""
        if not row.badge:
            return 0
        name, colour = _badge_icon(row)
        width = draw_text(painter, rect, row.badge, tokens.muted, small_font(), alignment=AT_RIGHT)
        left = rect.right() - width - MARK - 4
        place = QRectF(left, rect.center().y() - MARK / 2 + 1, MARK, MARK)
        paint_icon(painter, name, place, getattr(tokens, colour))
        return width + MARK + 16


def _badge_icon(row: HubRow) -> tuple[str, str]:
    if row.fitting:
        return FIT_ICONS[row.fitting.fit], FIT_COLOURS[row.fitting.fit]
    return "shield", "muted"
