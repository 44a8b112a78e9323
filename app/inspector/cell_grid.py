"""The KV cells as squares in order of their index, with a current cell. GUI thread."""

from collections.abc import Callable
from math import ceil, log2

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.inspector.cell_figures import MediaBlock
from app.inspector.cell_picture import NO_SEQUENCE, SIDES, CellLayout, CellPicture
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.tokens import Tokens, current
from app.look.words import tr
from app.protocol.media import MediaSpan
from app.protocol.report import CellMap

PictureOf = Callable[[MediaSpan], QPixmap | None]
NO_CELL = -1
MIN_PICTURE = 8  # pixels of its shorter side
MARGIN = 8
LABEL_SPACE = 6  # between an index and its row
WHEEL_STEP = 120
VERY_FAR = 2**31
FEWEST = 128  # cells that are shown however few are used

# By how many cells, rows and pages each key moves.
_MOVES = {
    Qt.Key.Key_Left: (-1, 0, 0),
    Qt.Key.Key_Right: (1, 0, 0),
    Qt.Key.Key_Up: (0, -1, 0),
    Qt.Key.Key_Down: (0, 1, 0),
    Qt.Key.Key_PageUp: (0, 0, -1),
    Qt.Key.Key_PageDown: (0, 0, 1),
    Qt.Key.Key_Home: (-VERY_FAR, 0, 0),
    Qt.Key.Key_End: (VERY_FAR, 0, 0),
}


class CellGrid(QAbstractScrollArea):
    """Shows the cells up to the highest used one, as large as they fit; the others are below.

    Ctrl and the wheel, or + and -, zoom; 0 fits the used cells in again, 9 all. Arrows move from cell to
    cell.
    """

    pointed = Signal(int)  # index of the cell under the mouse or the keys; NO_CELL for none
    chosen = Signal(int)  # index of the cell that was clicked, or Enter was pressed on

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.picture = CellPicture()
        self._cells: CellMap | None = None
        self._blocks: tuple[MediaBlock, ...] = ()
        self.picture_of: PictureOf = lambda _span: None  # of those that can be shown
        self.chosen_seq = NO_SEQUENCE
        self._side: int | None = None  # device pixels; None: as large as fits
        self._shows_all = False  # else the used ones
        self._num_fitted = 0  # cells that there is room for
        self._current = NO_CELL  # of the keys
        self._hovered = NO_CELL
        self._gutter = 0  # logical pixels on the left, for indices
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(tabular(small_font()))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("KV cells"))
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def apply(self, cells: CellMap | None) -> None:
        is_resized = (len(cells.pos) if cells else 0) != self.picture.layout.num_cells
        self._cells = cells
        if is_resized:
            self._side = None
            self._current = self._hovered = NO_CELL
        if is_resized or (not self._side and self._num_wanted != self._num_fitted):
            self._lay_out()
        if self.picture.apply(cells, self.chosen_seq):
            self.viewport().update()

    def show_media(self, blocks: tuple[MediaBlock, ...]) -> None:
        """Pictures and sounds, as one block each."""
        if blocks != self._blocks:
            self._blocks = blocks
            self.viewport().update()

    def choose(self, seq_id: int) -> None:
        """Highlight what this sequence holds, and dim everything else."""
        if seq_id != self.chosen_seq:
            self.chosen_seq = seq_id
            if self.isVisible():
                self.apply(self._cells)

    @property
    def num_shared(self) -> int:
        return self.picture.num_shared

    @property
    def pointed_cell(self) -> int:
        return self._hovered if self._hovered != NO_CELL else self._current

    def cell_rect(self, index: int) -> QRectF:
        """Where this cell is, in the viewport."""
        row, column = divmod(index, self.picture.layout.num_columns)
        side = self.picture.layout.side / self.devicePixelRatioF()
        return QRectF(self._gutter + column * side, MARGIN + (row - self._first_row) * side, side, side)

    def cell_at(self, place: QPointF) -> int:
        layout = self.picture.layout
        side = layout.side / self.devicePixelRatioF()
        column = (place.x() - self._gutter) // side
        row = (place.y() - MARGIN) // side + self._first_row
        index = int(row * layout.num_columns + column)
        is_inside = 0 <= column < layout.num_columns and self._first_row <= row
        return index if is_inside and index < layout.num_cells else NO_CELL

    # Size and place.

    def zoom(self, is_larger: bool, anchor: int = NO_CELL) -> None:
        """The next larger or smaller squares; the anchor stays where it is."""
        ratio, side = self.devicePixelRatioF(), self.picture.layout.side
        sides = [round(one * ratio) for one in SIDES]
        others = [one for one in sides if one > side] if is_larger else [one for one in sides if one < side]
        if not others or not self.picture.layout.num_cells:
            return
        anchor = anchor if anchor != NO_CELL else max(self.pointed_cell, 0)
        top = self.cell_rect(anchor).top() - MARGIN
        self._side = min(others) if is_larger else max(others)
        self._lay_out()
        row = anchor // self.picture.layout.num_columns
        self.verticalScrollBar().setValue(row - round(top * ratio / self.picture.layout.side))

    def fit(self, shows_all: bool = False) -> None:
        """The used cells or all, as large as there is room for."""
        self._side, self._shows_all = None, shows_all
        self._lay_out()
        self.verticalScrollBar().setValue(0)

    @property
    def _num_wanted(self) -> int:
        """In steps, so that not every token lays them out anew."""
        if self._cells is None or self._shows_all:
            return len(self._cells.pos) if self._cells else 0
        used = self._cells.pos[::-1] >= 0
        num_used = len(used) - int(used.argmax()) if used.any() else 0
        return min(len(used), 1 << ceil(log2(max(num_used, FEWEST))))

    def sizeHint(self) -> QSize:
        return QSize(480, 240)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 60)

    @property
    def _first_row(self) -> int:
        return self.picture.first_row

    @property
    def _num_whole_rows(self) -> int:
        """Rows that fit completely into the view."""
        height = int((self.viewport().height() - 2 * MARGIN) * self.devicePixelRatioF())
        return max(height // self.picture.layout.side, 1)

    def _lay_out(self) -> None:
        num_cells = len(self._cells.pos) if self._cells else 0
        ratio = self.devicePixelRatioF()
        self._gutter = (
            MARGIN + LABEL_SPACE + self.fontMetrics().horizontalAdvance(count(max(num_cells - 1, 0)))
        )
        width = int((self.viewport().width() - self._gutter - MARGIN) * ratio)
        height = int((self.viewport().height() - 2 * MARGIN) * ratio)
        if self._side:
            layout = CellLayout.of(num_cells, max(width, 1), self._side)
        else:
            self._num_fitted = self._num_wanted
            side = CellLayout.fitting(self._num_fitted, max(width, 1), height).side
            layout = CellLayout.of(num_cells, max(width, 1), side)
        self.picture.place(layout, self._first_row, 0, current())  # `_num_whole_rows` needs it
        bar = self.verticalScrollBar()
        bar.setRange(0, max(layout.num_rows - self._num_whole_rows, 0))
        bar.setPageStep(self._num_whole_rows)
        self._redraw()

    def _redraw(self) -> None:
        layout = self.picture.layout
        height = self.viewport().height() * self.devicePixelRatioF()
        first_row = self.verticalScrollBar().value()
        self.picture.place(layout, first_row, ceil(height / layout.side), current())
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), QColor(tokens.surface))
        if not self.picture.layout.num_cells:
            return
        self.picture.image.setDevicePixelRatio(self.devicePixelRatioF())
        painter.drawImage(QPointF(self._gutter, MARGIN), self.picture.image)
        self._paint_end(painter, tokens)
        for block in self._blocks:
            self._paint_block(painter, block, tokens)
        if event.rect().left() < self._gutter:
            self._paint_indices(painter, tokens)
        if self.hasFocus() and self._current != NO_CELL:
            self._paint_frame(painter, self._current, 2.0, tokens)
        if self._hovered != NO_CELL:
            self._paint_frame(painter, self._hovered, 1.0, tokens)

    def _paint_end(self, painter: QPainter, tokens: Tokens) -> None:
        """Blanks the row after the last cell, and draws the outline around all cells."""
        layout = self.picture.layout
        first, last = self.cell_rect(0), self.cell_rect(layout.num_cells - 1)
        right = self._gutter + layout.num_columns * last.width()
        painter.fillRect(
            QRectF(last.right(), last.top(), right - last.right(), last.height()), tokens.surface
        )
        corners = [first.topLeft(), QPointF(right, first.top()), QPointF(right, last.top())]
        corners += [last.topRight(), last.bottomRight(), QPointF(self._gutter, last.bottom())]
        painter.setPen(QColor(tokens.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolygon(corners)

    def _rooms_in(self, block: MediaBlock) -> list[QRectF]:
        """The rectangles in it that cannot be made larger. Together they are all of it."""
        columns = self.picture.layout.num_columns
        first, begin = divmod(block.start, columns)
        last, end = divmod(block.end - 1, columns)
        rooms = [
            (first, last, begin, end),
            (first, last - 1, begin, columns - 1),
            (first + 1, last, 0, end),
            (first + 1, last - 1, 0, columns - 1),
        ]
        return [
            self.cell_rect(top * columns + left) | self.cell_rect(bottom * columns + right)
            for top, bottom, left, right in rooms
            if top <= bottom and left <= right
        ]

    def _paint_block(self, painter: QPainter, block: MediaBlock, tokens: Tokens) -> None:
        """Its outline, and the picture where it is largest, in the colours of its cells all around."""
        shape, rooms = QPainterPath(), self._rooms_in(block)
        shape.setFillRule(Qt.FillRule.WindingFill)
        for room in rooms:
            shape.addRect(room)
        if picture := self.picture_of(block.span):
            box = max((_fitted(picture.size(), room) for room in rooms), key=QRectF.width)
            if min(box.width(), box.height()) >= MIN_PICTURE:
                painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
                painter.drawPixmap(box, picture, QRectF(picture.rect()))
                painter.setPen(QColor(tokens.window))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(box)
        painter.setPen(QPen(QColor(tokens.text), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(shape.simplified())

    def _paint_indices(self, painter: QPainter, tokens: Tokens) -> None:
        """At the left of some rows, the index of their first cell."""
        layout = self.picture.layout
        side = layout.side / self.devicePixelRatioF()
        line = self.fontMetrics().height()
        step = 2 ** max(ceil(log2(2 * line / side)), 0)
        painter.setPen(QColor(tokens.muted))
        first = -(-self._first_row // step) * step
        for row in range(first, layout.num_rows, step):
            top = MARGIN + (row - self._first_row) * side
            if top > self.viewport().height():
                return
            place = QRectF(0, top + min(side, line) / 2 - line / 2, self._gutter - LABEL_SPACE, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, count(row * layout.num_columns))

    def _paint_frame(self, painter: QPainter, index: int, width: float, tokens: Tokens) -> None:
        """Around a cell, however small that is, in the colour of text on a rim of the page."""
        rect = self.cell_rect(index).adjusted(-width, -width, width, width)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, pen_width in ((tokens.window, width + 2), (tokens.text, width)):
            painter.setPen(QPen(QColor(colour), pen_width, j=Qt.PenJoinStyle.MiterJoin))
            painter.drawRect(rect)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.DevicePixelRatioChange):
            self._lay_out()
        elif event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.viewport().update()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        self._redraw()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if event.angleDelta().y():
                self.zoom(event.angleDelta().y() > 0, self.cell_at(event.position()))
            event.accept()
            return
        lines = -event.angleDelta().y() / WHEEL_STEP * max(self._num_whole_rows // 8, 1)
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() + round(lines))
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(NO_CELL)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index != NO_CELL:
            self._move_to(index)
            self.chosen.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _MOVES and self.picture.layout.num_cells:
            self._move_by(*_MOVES[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current != NO_CELL:
            self.chosen.emit(self._current)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(is_larger=True)
        elif key == Qt.Key.Key_Minus:
            self.zoom(is_larger=False)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_9):
            self.fit(shows_all=key == Qt.Key.Key_9)
        else:
            super().keyPressEvent(event)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            former, self._hovered = self._hovered, index
            self._emit_pointed(former, index)

    def _move_by(self, num_cells: int, num_rows: int, num_pages: int) -> None:
        """From the current cell, or to the first one if there is none yet."""
        layout = self.picture.layout
        num_cells += (num_rows + num_pages * self._num_whole_rows) * layout.num_columns
        index = self._current + num_cells if self._current != NO_CELL else 0
        self._hovered = NO_CELL
        self._move_to(min(max(index, 0), layout.num_cells - 1))

    def _move_to(self, index: int) -> None:
        former, self._current = self._current, index
        row, bar = index // self.picture.layout.num_columns, self.verticalScrollBar()
        if row < bar.value():
            bar.setValue(row)
        elif row >= bar.value() + self._num_whole_rows:
            bar.setValue(row - self._num_whole_rows + 1)
        self._emit_pointed(former, index)

    def _emit_pointed(self, former: int, index: int) -> None:
        for one in (former, index):
            if one != NO_CELL:
                self.viewport().update(self.cell_rect(one).toAlignedRect().adjusted(-5, -5, 5, 5))
        self.pointed.emit(self.pointed_cell)


def _fitted(size: QSize, room: QRectF) -> QRectF:
    """In the middle of it, with some of it left around."""
    room = room.adjusted(2, 2, -2, -2)
    box = QRectF(QPointF(), QSizeF(size).scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio))
    box.moveCenter(room.center())
    return box
