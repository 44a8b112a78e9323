"""Facts as rows: switch, text, and where it comes from. Space, Enter and Delete act on one. GUI thread."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QDateTime, QItemSelectionModel, QLocale, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QLineEdit,
    QListView,
    QStyleOptionViewItem,
    QWidget,
)

from app.chats.project import MAX_FACT_CHARS, Fact
from app.look.fonts import small_font
from app.look.list import ROW, Index, ListDelegate, draw_text, paint_row_ground
from app.look.tokens import current
from app.look.words import locale, tr
from app.ui.base.setting_controls import Switch, paint_switch

SOURCE, IS_LINK = ROW + 1, ROW + 2
PADDING, GAP = 8, 12
WRAPPED = Qt.TextFlag.TextWordWrap


def source_text(fact: Fact, title: str | None) -> str:
    """The chat that it comes from, unless the user wrote it, and its date. `title` None: no such chat."""
    day = QDateTime.fromSecsSinceEpoch(int(fact.created_at)).date()
    gone = tr("From a deleted chat") if fact.chat_id else ""
    source = gone if title is None else tr("From “{title}”", title=title)
    return " · ".join(filter(None, (source, locale().toString(day, QLocale.FormatType.ShortFormat))))


class FactDelegate(ListDelegate):
    def __init__(self, parent: "FactList") -> None:
        super().__init__(parent)
        self._list = parent
        self._line = QFontMetrics(small_font()).height()

    def height_of(self, row: Fact) -> int:
        width = self.text_rect(QRect(0, 0, self._list.viewport().width(), 0)).width()
        text = self._list.fontMetrics().boundingRect(0, 0, width, 0, WRAPPED, row.text)
        return text.height() + self._line + 2 * PADDING

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: Fact) -> None:
        tokens, rect = current(), option.rect
        paint_row_ground(painter, rect, option.state, is_framed=self._list.hasFocus())
        painter.setPen(tokens.text if row.is_on else tokens.muted)
        painter.drawText(self.text_rect(rect), WRAPPED, row.text)
        colour = tokens.accent if index.data(IS_LINK) else tokens.muted
        draw_text(painter, self.source_rect(rect), index.data(SOURCE), colour, small_font())
        if self._list.has_switches:
            painter.translate(self.switch_rect(rect).topLeft())
            paint_switch(painter, is_on=row.is_on)

    def switch_rect(self, rect: QRect) -> QRect:
        return QRect(rect.left() + PADDING, rect.top() + PADDING, Switch.SIZE.width(), Switch.SIZE.height())

    def text_rect(self, rect: QRect) -> QRect:
        left = Switch.SIZE.width() + GAP if self._list.has_switches else 0
        return rect.adjusted(PADDING + left, PADDING, -PADDING, -PADDING)

    def source_rect(self, rect: QRect) -> QRect:
        return self.text_rect(rect).adjusted(0, rect.height() - 2 * PADDING - self._line, 0, 2)

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        edit = QLineEdit(parent)
        edit.setMaxLength(MAX_FACT_CHARS)
        edit.setAccessibleName(tr("Fact"))
        return edit

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        room = self.text_rect(option.rect)
        editor.setGeometry(
            room.left() - 8, option.rect.top() + 2, room.width() + 8, editor.sizeHint().height()
        )


class FactList(QListView):
    switched = Signal(object)  # a Fact, as all of these
    deleted = Signal(object)
    edited = Signal(object, str)  # its new text
    source_opened = Signal(object)
    moved = Signal()  # another one is chosen

    def __init__(self, name: str, parent: QWidget, *, has_switches: bool) -> None:
        super().__init__(parent)
        self.has_switches = has_switches
        self.facts: tuple[Fact, ...] = ()
        self._sources: list[str] = []
        self._late: tuple[tuple[Fact, ...], Callable[[str], str | None]] | None = None  # since one is edited
        self._delegate = FactDelegate(self)
        self._model = QStandardItemModel(self)
        self._model.itemChanged.connect(self._on_edited)
        self.setObjectName("lines")
        self.setAccessibleName(name)
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked)

    @property
    def chosen(self) -> Fact | None:
        row = self.currentIndex().row()
        return self.facts[row] if row >= 0 else None

    def apply(self, facts: Iterable[Fact], title_of: Callable[[str], str | None]) -> None:
        """The keyboard stays on its fact, or where that was."""
        facts = tuple(facts)
        if self.state() is QAbstractItemView.State.EditingState:
            self._late = facts, title_of
            return
        titles = [title_of(one.chat_id) for one in facts]
        sources = list(map(source_text, facts, titles))
        if (facts, sources) == (self.facts, self._sources):
            return
        before, row, top = self.chosen, self.currentIndex().row(), self.verticalScrollBar().value()
        self._model.clear()
        self.facts, self._sources = facts, sources
        for fact, title, source in zip(facts, titles, sources, strict=True):
            item = QStandardItem(fact.text)
            item.setAccessibleText(", ".join((fact.text, tr("on") if fact.is_on else tr("off"), source)))
            for role, value in ((ROW, fact), (SOURCE, source), (IS_LINK, title is not None)):
                item.setData(value, role)
            self._model.appendRow(item)
        ids = [one.id for one in facts]
        if facts:
            self.choose(
                ids.index(before.id) if before and before.id in ids else min(max(row, 0), len(ids) - 1)
            )
        self.verticalScrollBar().setValue(top)

    def choose(self, row: int) -> None:
        how = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(self._model.index(row, 0), how)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        late, self._late = self._late, None
        if late:
            self.apply(*late)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.moved.emit()

    def edit_chosen(self) -> None:
        if self.chosen:
            self.edit(self.currentIndex())

    def _on_edited(self, item: QStandardItem) -> None:
        if item.text() != self.facts[item.row()].text:
            self.edited.emit(self.facts[item.row()], item.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        fact, key = self.chosen, event.key()
        if fact and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self.edit_chosen()
        elif fact and key in (Qt.Key.Key_Space, Qt.Key.Key_Delete):
            (self.switched if key == Qt.Key.Key_Space else self.deleted).emit(fact)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        index = self.indexAt(place)
        if not index.isValid() or event.button() is not Qt.MouseButton.LeftButton:
            return
        fact, rect = self.facts[index.row()], self.visualRect(index)
        if self.has_switches and self._delegate.switch_rect(rect).contains(place):
            self.switched.emit(fact)
        elif index.data(IS_LINK) and self._delegate.source_rect(rect).contains(place):
            self.source_opened.emit(fact)
