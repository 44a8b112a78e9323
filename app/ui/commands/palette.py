"""The command palette: a text field with matching entries below. Needs no mouse. GUI thread.

Ranks entries and runs the chosen one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QRect, Qt, Slot
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHideEvent, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionViewItem, QWidget

from app.look.fonts import small_font
from app.look.layouts import vbox
from app.look.list import MIDDLE, ROW, Index, ListDelegate, draw_text, in_weight
from app.look.painted import paint_rounded
from app.look.plain_text import PlainLabel, one_line
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.field_popup import FieldPopup
from app.ui.base.fuzzy import FuzzyMatch, fit, fit_whole

MAX_SHOWN = 200
_RECENT = 40  # bonus for recently used entries, a little less for each newer one
_IN_DETAIL = 150  # penalty for a match in the place instead of the name


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """`name` is the same in every run. `detail` is its place; `keywords` are searched but not shown."""

    name: str
    text: str
    run: Callable[[], object]
    detail: str = ""
    keys: str = ""
    keywords: str = ""
    is_enabled: bool = True
    why_disabled: str = ""
    is_on: bool = False  # ticked in its menu
    only_when_asked: bool = False  # not among what is offered before anything is typed


@dataclass(frozen=True, slots=True)
class Hit:
    entry: PaletteEntry
    places: frozenset[int] = frozenset()  # of the text: what was typed


def hits(query: str, entries: Iterable[PaletteEntry], recent: Sequence[str]) -> list[Hit]:
    """Best first. Without a query the most recently used, then all as they come."""
    rank = {name: index for index, name in enumerate(recent)}
    if not query.strip():
        offered = [entry for entry in entries if entry.name in rank or not entry.only_when_asked]
        offered.sort(key=lambda entry: rank.get(entry.name, len(rank)))
        return [Hit(entry) for entry in offered[:MAX_SHOWN]]
    found: list[tuple[int, Hit]] = []
    for entry in entries:
        if how := _fit(query, entry):
            bonus = max(0, _RECENT - rank[entry.name]) if entry.name in rank else 0
            found.append((how.score + bonus, Hit(entry, how.places)))
    found.sort(key=lambda scored: (-scored[0], not scored[1].entry.is_enabled))
    return [hit for _, hit in found[:MAX_SHOWN]]


def _fit(query: str, entry: PaletteEntry) -> FuzzyMatch | None:
    """Compares the text of the entry first, then each word also with its place and keywords."""
    if in_text := fit(query, entry.text):
        return in_text
    around = f"{entry.detail} {entry.keywords}"
    score, places = -_IN_DETAIL, frozenset[int]()
    for word in query.split():
        in_text, elsewhere = fit(word, entry.text), fit_whole(word, around)
        found = in_text or elsewhere
        if found is None:
            return None
        score += found.score
        places |= in_text.places if in_text else frozenset()
    return FuzzyMatch(score, places)


ROW_HEIGHT, MAX_ROWS = 32, 12
MAX_RECENT = 30

Source = Callable[[], Iterable[PaletteEntry]]


class CommandPalette(FieldPopup):
    """`sources` are read each time it opens."""

    PAGE = MAX_ROWS - 1

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.recent: list[str] = []  # names of entries, the last used first
        self._sources: list[Source] = []
        self._entries: list[PaletteEntry] = []
        self.model = _Hits(self)
        self._nothing = PlainLabel(tr("No matches."), self, "muted")
        self._lay_out()
        self.field.textChanged.connect(self._show_hits)
        self.hide()

    def add_source(self, source: Source) -> None:
        self._sources.append(source)

    def entries(self) -> list[PaletteEntry]:
        """All there are now."""
        return [entry for source in self._sources for entry in source()]

    def open_up(self) -> None:
        """Closes it if it is open."""
        if not self.isHidden():
            self.close_up()
            return
        self._entries = self.entries()
        self.field.clear()
        self._show_hits("")
        self.come_up()

    def take(self, index: Index, _is_beside: bool) -> None:
        hit = index.data(ROW)
        if not isinstance(hit, Hit) or not hit.entry.is_enabled:
            return
        self.close_up()  # closed first: the command may need the focus
        name = hit.entry.name
        self.recent = [name, *(other for other in self.recent if other != name)][:MAX_RECENT]
        hit.entry.run()

    def step(self, rows: int) -> None:
        """Single rows wrap around, pages do not."""
        count = len(self.model.hits)
        row = self.list.currentIndex().row() + rows
        if count:
            self._choose(row % count if abs(rows) == 1 else max(0, min(count - 1, row)))

    def place(self) -> None:
        space = self.window().rect()
        self.setFixedWidth(min(self.WIDTH, space.width() - 32))
        wanted = min(MAX_ROWS, len(self.model.hits)) * ROW_HEIGHT + 8
        self.list.setFixedHeight(min(wanted, max(ROW_HEIGHT, space.height() - 2 * self.TOP - ROW_HEIGHT)))
        self.adjustSize()
        self.move((space.width() - self.width()) // 2, self.TOP)

    @Slot(str)
    def _show_hits(self, query: str) -> None:
        found = hits(query, self._entries, self.recent)
        self.model.apply(found)
        if found:
            self._choose(0)
        self._nothing.setVisible(not found)
        self.list.setVisible(bool(found))
        self.place()

    def _choose(self, row: int) -> None:
        self.list.setCurrentIndex(self.model.index(row))
        self.field.setAccessibleDescription(spoken(self.model.hits[row].entry))

    def _lay_out(self) -> None:
        self.setObjectName("palette")
        self.setAccessibleName(tr("Command palette"))
        self.field.setPlaceholderText(tr("Command, chat or setting…"))
        self.field.setAccessibleName(tr("Command, chat or setting"))
        self.field.setFrame(False)
        self.field.setMinimumHeight(44)
        self.field.setTextMargins(8, 0, 8, 0)
        self.dress_list(self.model, _HitDelegate(self.list), tr("Found"))
        self.list.setUniformItemSizes(True)
        self._nothing.setContentsMargins(14, 8, 14, 12)
        vbox(self.field, self.list, self._nothing, on=self, margins=1, spacing=0)

    def hideEvent(self, event: QHideEvent) -> None:
        """Closed, it holds no chats."""
        super().hideEvent(event)
        if self.isHidden():
            self._entries = []
            self.model.apply([])


class _Hits(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.hits: list[Hit] = []

    def apply(self, found: list[Hit]) -> None:
        self.beginResetModel()
        self.hits = found
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        hit = self.hits[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return hit.entry.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(hit.entry)
        return hit if role == ROW else None


class _HitDelegate(ListDelegate):
    """Name, place or reason why it is disabled, and its keys at the right."""

    HEIGHT = ROW_HEIGHT

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, _index: Index, hit: Hit) -> None:
        entry, rect = hit.entry, option.rect.adjusted(4, 0, -4, 0)
        if option.state & QStyle.StateFlag.State_Selected:
            paint_rounded(painter, rect.adjusted(0, 1, 0, -1), 6, fill=current().chosen)
        rest = _paint_keys(painter, rect.adjusted(10, 0, -10, 0), entry.keys)
        rest = _paint_name(painter, rest, hit).adjusted(12, 0, 0, 0)
        words = entry.detail if entry.is_enabled else entry.why_disabled or entry.detail
        draw_text(painter, rest, words, current().muted, small_font())


def _paint_keys(painter: QPainter, rect: QRect, keys: str) -> QRect:
    """Returns the rest of the row."""
    if not keys:
        return rect
    painter.setFont(small_font())
    width = painter.fontMetrics().horizontalAdvance(keys) + 14
    cap = QRect(rect.right() - width, rect.center().y() - 9, width, 20)
    paint_rounded(painter, cap, 5, 0.5, fill=current().popup, edge=current().hairline)
    painter.setPen(QColor(current().muted))
    painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, keys)
    return rect.adjusted(0, 0, -width - 12, 0)


def _paint_name(painter: QPainter, rect: QRect, hit: Hit) -> QRect:
    """Paints the name with the typed letters in bold. Returns the rest of the row."""
    tokens, usual = current(), QApplication.font()
    bold = in_weight(usual, QFont.Weight.Bold)
    colour = tokens.text if hit.entry.is_enabled else tokens.muted
    text = one_line(hit.entry.text)
    if text != hit.entry.text or QFontMetrics(bold).horizontalAdvance(text) > rect.width():
        return rect.adjusted(draw_text(painter, rect, text, colour, usual), 0, 0, 0)
    pieces = [(run, is_typed, colour) for run, is_typed in runs(text, hit.places)]
    if hit.entry.is_on:
        pieces.insert(0, ("✓ ", False, tokens.accent))
    for run, is_typed, usual_colour in pieces:
        painter.setFont(bold if is_typed else usual)
        painter.setPen(QColor(tokens.accent if is_typed and hit.entry.is_enabled else usual_colour))
        painter.drawText(rect, MIDDLE, run)
        rect = rect.adjusted(painter.fontMetrics().horizontalAdvance(run), 0, 0, 0)
    return rect


def runs(text: str, places: frozenset[int]) -> list[tuple[str, bool]]:
    """The text split into typed and other pieces."""
    pieces: list[tuple[str, bool]] = []
    for at, letter in enumerate(text):
        is_typed = at in places
        if pieces and pieces[-1][1] == is_typed:
            pieces[-1] = (pieces[-1][0] + letter, is_typed)
        else:
            pieces.append((letter, is_typed))
    return pieces


def spoken(entry: PaletteEntry) -> str:
    parts = (
        entry.text,
        entry.detail,
        entry.keys,
        "" if entry.is_enabled else entry.why_disabled or tr("unavailable"),
    )
    return ", ".join(part for part in parts if part)
