"""The KV map: every cell of the context and its holders, and whether the library agrees. GUI thread."""

from collections.abc import Mapping
from functools import partial
from math import ceil

from PySide6.QtCore import QRectF, QSize, Qt, Slot
from PySide6.QtGui import QBrush, QColor, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.cell_figures import (
    MediaBlock,
    cell_text,
    figures_of,
    figures_text,
    media_blocks,
    num_streams,
    sequence_text,
    sequence_titles,
)
from app.inspector.cell_grid import NO_CELL, CellGrid
from app.inspector.cell_picture import NO_SEQUENCE, owners_of
from app.inspector.dock_panel import DockPanel, Pictures
from app.inspector.panel_buttons import bar_button
from app.inspector.recording import Recording
from app.inspector.sequences import CheckBadge
from app.look.fonts import line_height, small_font, tabular
from app.look.layouts import STRETCH, TOP, hbox, vbox
from app.look.painted import flowed
from app.look.plain_text import PlainLabel, as_tooltip
from app.look.tokens import Tokens, colour_of, current
from app.look.words import mark, sentences, tr
from app.protocol.commands import CheckCells
from app.protocol.report import CellMap

NO_MODEL = mark("No model is loaded. Choose one above the chat to see its cells here.")
NO_MAP = mark("A recording has no KV map. Go back to the running engine to see one.")
HINT = mark(
    "Point at a cell or use the arrow keys to see what it holds. Click to select its sequence in all panels."
)
OWN_ORDER = mark(
    "llama.cpp does not report where this model's cells are, so they are shown in Skein's own order."
)
WHAT_FIGURES_MEAN = mark(
    "Fragmentation: free cells below the highest used one. Attention still runs over them, so they cost "
    "time.\nUsed so far: the most cells at any time since the model was loaded."
)
LINE_TOP = 6
NUM_DESCRIBED = 64  # tokens on either side of a cell that are asked for with it
LINE = 20
SWATCH = 11
SPACE = 14
MARGIN = 8
MAX_LINES = 4
MAX_TEXT_WIDTH = 120  # where the names do not all fit on one line
FREE, SHARED, MEDIA = mark("free"), mark("shared"), mark("picture or sound")
POSITIONS = mark(
    "A picture takes one cell for each of its rows of embeddings. Models with M-RoPE give them positions "
    "along its longer side only: the text behind it goes on at a smaller position than the cells count."
)


class KvMapPanel(DockPanel):
    NAME = "kv map"
    WATCHES_CELLS = True
    TITLE = mark("KV map")
    SIZE, MIN_SIZE = QSize(600, 360), QSize(240, 160)

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.badge = CheckBadge(self)
        self.grid = CellGrid(self)
        self.cell = _line(self)
        self.figures = _line(self, top=2)
        self.figures.setToolTip(as_tooltip(tr(WHAT_FIGURES_MEAN)))
        self.figures.setFixedHeight(self.figures.minimumHeight() - 4)
        self.grid.setAccessibleDescription(tr(HINT))
        self.legend = CellLegend(self)
        self._cells: CellMap | None = None  # what is drawn
        self._blocks: tuple[MediaBlock, ...] = ()
        self.zoom = _ZoomButtons(self.grid, self)
        below = hbox((self.cell, 1), (self.zoom, 0, TOP))
        parts = (self.badge, (self.grid, 1), below, self.figures, self.legend, (self.message, 1))
        vbox(*parts, on=self, spacing=0)
        self.setFocusProxy(self.grid)
        self.badge.check_requested.connect(lambda: self.commanded.emit(CheckCells()))
        self.grid.pointed.connect(self._on_pointed)
        self.grid.chosen.connect(self._on_chosen)
        self.reset()

    def draw(self) -> None:
        cells, newest = self.recording.cell_map, self.recording.newest
        if cells is not self._cells:
            self._cells = cells
            self.grid.apply(cells)
            self._blocks = media_blocks(cells, newest.slots) if cells and newest else ()
            self.grid.show_media(self._blocks)
            self._show_figures()
        self.legend.apply(self._sequence_titles(), self.grid.chosen_seq, has_media=bool(self._blocks))
        self.badge.apply(newest.last_check if newest else None, self.recording.disagreement)
        self._show_cell()

    def reset(self) -> None:
        self._cells = None
        self.grid.choose(NO_SEQUENCE)
        self.grid.apply(None)
        is_live = self.recording.is_live
        has_cells = self.recording.model is not None and (is_live or self.recording.cell_map is not None)
        self.message.setText(self._no_model(NO_MODEL) if is_live else tr(NO_MAP))
        self.message.setVisible(not has_cells)
        for part in (self.badge, self.grid, self.zoom, self.cell, self.figures, self.legend):
            part.setVisible(has_cells)
        self.badge.set_live(is_live)
        self._show_figures()

    def set_pictures(self, pictures: Pictures) -> None:
        self.grid.picture_of = pictures.of
        pictures.loaded.connect(self.grid.viewport().update)

    def select_sequence(self, seq_id: int) -> None:
        self.grid.choose(seq_id)
        if self.isVisible():
            self.legend.apply(self._sequence_titles(), seq_id, has_media=bool(self._blocks))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._cells = None  # redrawn when it is visible again

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape ends the highlighting; without any, it is passed on."""
        if event.key() == Qt.Key.Key_Escape and self.grid.chosen_seq != NO_SEQUENCE:
            self.select_sequence(NO_SEQUENCE)
        else:
            super().keyPressEvent(event)

    @Slot(int)
    def _on_pointed(self, index: int) -> None:
        self._show_cell()
        if self._cells is not None and index != NO_CELL:
            near = self._cells.token_ids[max(index - NUM_DESCRIBED, 0) : index + NUM_DESCRIBED]
            self.ask_for_texts(sorted(near.tolist()))

    @Slot(int)
    def _on_chosen(self, index: int) -> None:
        """Repeated clicks on a shared cell cycle through its sequences."""
        owners = owners_of(self._cells, index) if self._cells else ()
        if not owners:
            self.select_sequence(NO_SEQUENCE)
            return
        later = [seq_id for seq_id in owners if seq_id > self.grid.chosen_seq]
        seq_id = later[0] if self.grid.chosen_seq in owners and later else owners[0]
        self.select_sequence(seq_id)
        self.sequence_selected.emit(seq_id)

    def _show_cell(self) -> None:
        index = self.grid.pointed_cell
        if self._cells is None or index == NO_CELL:
            model = self.recording.model
            order = tr(OWN_ORDER) if model and not model.has_plain_attention else ""
            self.cell.setText(sentences(tr(HINT), order))
            self.cell.set_tone("muted")
            return
        text = cell_text(
            self._cells, index, self.recording.token_texts, self._sequence_titles(), self._blocks
        )
        self.cell.setText(text)
        self.cell.set_tone("")
        self.grid.setAccessibleDescription(text)

    def _show_figures(self) -> None:
        model, text = self.recording.model, ""
        if self._cells is not None and model is not None:
            text = figures_text(figures_of(self._cells, self.grid.num_shared, num_streams(model)))
        self.figures.setText(text)

    def _sequence_titles(self) -> dict[int, str]:
        newest = self.recording.newest
        return sequence_titles(newest, self.titles) if newest else {}


class _ZoomButtons(QWidget):
    def __init__(self, grid: CellGrid, parent: QWidget) -> None:
        super().__init__(parent)
        choices = (
            (tr("Used cells"), tr("Fit the used cells in (0)"), grid.fit),
            (tr("All cells"), tr("Fit all cells in (9)"), partial(grid.fit, shows_all=True)),
            ("−", tr("Zoom out (−, or Ctrl and the wheel)"), partial(grid.zoom, is_larger=False)),
            ("+", tr("Zoom in (+, or Ctrl and the wheel)"), partial(grid.zoom, is_larger=True)),
        )
        self.buttons = [bar_button(text, tip, self, act) for text, tip, act in choices]
        for button in self.buttons:
            button.setAccessibleName(button.toolTip())
        hbox(STRETCH, *self.buttons, on=self, margins=(MARGIN, self._top(), MARGIN, 0), spacing=2)

    def _top(self) -> int:
        """Their words stand on the first line beside them."""
        middle = LINE_TOP + line_height(tabular(small_font())) // 2
        return max(0, middle - self.buttons[0].sizeHint().height() // 2)


def _line(parent: QWidget, top: int = LINE_TOP) -> PlainLabel:
    """It wraps, and has room for two lines, so that nothing jumps."""
    label = PlainLabel(parent=parent, wraps=True)
    label.setFont(tabular(small_font()))
    label.setContentsMargins(MARGIN, top, MARGIN, 2)
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    label.setMinimumHeight(2 * line_height(label.font()) + 8)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


class CellLegend(QWidget):
    """Shows as many sequences as fit into four lines."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._entries: list[tuple[str, int]] = []  # name, seq_id
        self._most_lines = 1
        self._chosen = NO_SEQUENCE
        self.setFont(small_font())
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(tr("Legend"))
        self.apply({}, NO_SEQUENCE)

    def apply(self, titles: Mapping[int, str], chosen: int, *, has_media: bool = False) -> None:
        kinds = (FREE, SHARED, MEDIA) if has_media else (FREE, SHARED)
        names = [(tr(kind), NO_SEQUENCE) for kind in kinds]
        self.setToolTip(as_tooltip(tr(POSITIONS)) if has_media else "")
        entries = names + [(sequence_text(seq_id, titles), seq_id) for seq_id in sorted(titles)]
        if (entries, chosen) == (self._entries, self._chosen):
            return
        self._entries, self._chosen = entries, chosen
        self.setAccessibleDescription(", ".join(name for name, _ in entries))
        if self.heightForWidth(self.width()) > self.height():
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 240)))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """It never shrinks again, so that the map above it does not move."""
        self._most_lines = max(self._most_lines, int(self._places(width)[-1].bottom()) // LINE)
        return self._most_lines * LINE + 4

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        metrics = painter.fontMetrics()
        places = self._places(self.width())
        for (name, seq_id), place in zip(self._entries, places, strict=False):
            swatch = QRectF(place.left(), place.center().y() - SWATCH / 2, SWATCH, SWATCH)
            _paint_swatch(painter, swatch, name, seq_id, tokens)
            is_dimmed = NO_SEQUENCE != self._chosen != seq_id
            painter.setPen(QColor(tokens.muted if is_dimmed else tokens.text))
            text = place.adjusted(SWATCH + 5, 0, 0, 0)
            name = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, ceil(text.width()))
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, name)

    def _places(self, width: int) -> list[QRectF]:
        """One for each entry that fits. Names are elided where they do not all fit on one line."""
        metrics = self.fontMetrics()
        # It is rounded: a text exactly as wide as its room is elided.
        widths = [metrics.horizontalAdvance(name) + 1 for name, _ in self._entries]
        if sum(each + SWATCH + 5 + SPACE for each in widths) - SPACE > width - 2 * MARGIN:
            widths = [min(each, MAX_TEXT_WIDTH) for each in widths]
        places = flowed((SWATCH + 5 + each for each in widths), width - 2 * MARGIN, SPACE, LINE)
        return [place.translated(MARGIN, 0) for place in places if place.top() < MAX_LINES * LINE]


def _paint_swatch(painter: QPainter, rect: QRectF, name: str, seq_id: int, tokens: Tokens) -> None:
    if seq_id != NO_SEQUENCE:
        painter.fillRect(rect, colour_of(seq_id))
        return
    painter.fillRect(rect, QColor(tokens.window))
    if name == tr(SHARED):
        painter.fillRect(rect, QBrush(QColor(tokens.text), Qt.BrushStyle.BDiagPattern))
    is_media = name == tr(MEDIA)
    painter.setPen(QPen(QColor(tokens.text), 1.5) if is_media else QColor(tokens.muted))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)
