"""Ctrl+K: finds a chat by its title at once, and by the text of its messages a moment later.

A field and a list over the top of the window. Shows given results, emits what was typed and chosen. GUI
thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QWidget
from shiboken6 import isValid

from app.look.icons import icon
from app.look.layouts import vbox
from app.look.marks import Mark
from app.look.plain_text import PlainLabel, search_field
from app.look.popups import stand_out
from app.look.words import tr
from app.storage.list_rows import ChatSummary
from app.storage.search import SearchHit
from app.ui.base.keyboard import keeps_escape
from app.ui.chats.search_delegate import HEADING_HEIGHT, HEIGHT, SearchDelegate
from app.ui.chats.search_model import SearchModel
from app.ui.chats.search_rows import FoundMessages

WIDTH, MAX_ROWS = 640, 9
_TOP = 56  # below the window's top edge
_MARGIN = 8


@dataclass(frozen=True, slots=True)
class Known:
    """What can be found by title."""

    chats: Sequence[ChatSummary]
    marks: dict[str, Mark]  # of the chats that are open, by id, in the order of their tabs


class SearchPopup(QFrame):
    typed = Signal(str)
    chosen = Signal(str, str, str)  # chat id, turn id or "", the words that were looked for
    beside_chosen = Signal(str)

    def __init__(self, ground: QWidget) -> None:
        super().__init__(ground)
        self._ground = ground
        self._known = Known((), {})
        self._came_from: QWidget | None = None
        self._below: QWidget | None = None
        self.model = SearchModel(self)
        self.field = search_field(tr("Search titles and messages"), self)
        self.list = QListView(self)
        self._state = PlainLabel("", self, "muted")
        self._lay_out()
        self.field.textChanged.connect(self._on_text_changed)
        self.list.clicked.connect(self._on_clicked)
        self.model.modelReset.connect(self._on_reset)
        self.field.installEventFilter(self)
        ground.installEventFilter(self)
        stand_out(self)
        self.hide()

    def open(self, known: Known, below: QWidget | None = None) -> None:
        """With the last words selected, so that they can be continued or replaced.

        Over the top of the window, or with its right edge `below` what was clicked.
        """
        self._known = known
        self._below = below
        self._came_from = self._came_from if self.isVisible() else self.window().focusWidget()
        self._place()
        self.show()
        self.raise_()
        self.field.selectAll()
        self.field.setFocus()
        self._show_titles()
        self.typed.emit(self.field.text())

    def show_hits(self, words: str, hits: Sequence[SearchHit]) -> None:
        """Ignored if the words in the field have changed since."""
        if self.isVisible() and words == self.field.text().strip():
            self.model.set_hits(hits)
            self._show_state(is_searching=False)

    def close_quietly(self) -> None:
        """Closes and restores the focus."""
        former = self._came_from
        self.hide()
        if former and isValid(former) and former.isVisible():
            former.setFocus()

    def _lay_out(self) -> None:
        self.setObjectName("search")
        self.setAccessibleName(tr("Search chats"))
        self.field.setMinimumHeight(32)
        self._field_icon = self.field.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.list.setModel(self.model)
        self.list.setItemDelegate(SearchDelegate(self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps it, and forwards the arrow keys
        self.list.setMouseTracking(True)
        self.list.setAccessibleName(tr("Found chats"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._state.setContentsMargins(10, 0, 10, 2)
        vbox(self.field, self.list, self._state, on=self, margins=_MARGIN, spacing=6)

    def _place(self) -> None:
        room = self._ground.rect()
        width = min(WIDTH, room.width() - 32)
        self.setFixedWidth(width)
        corner = QPoint((room.width() - width) // 2, min(_TOP, room.height() // 8))
        if self._below:
            edge = self._below.mapTo(self._ground, self._below.rect().bottomRight())
            corner = QPoint(max(_MARGIN, edge.x() - width), edge.y() + 1)
        self.list.setFixedHeight(min(self._wanted_height(), room.height() - corner.y() - 120))
        self.list.setVisible(self.model.rowCount() > 0)
        self.adjustSize()
        self.move(corner)

    def _wanted_height(self) -> int:
        rows = self.model.rows[: MAX_ROWS + 1]
        return sum(HEIGHT if isinstance(row, FoundMessages) else HEADING_HEIGHT for row in rows) + 2

    def _show_titles(self) -> None:
        self.model.set_titles(self.field.text(), self._known.chats, self._known.marks)
        self._show_state(is_searching=bool(self.field.text().strip()))

    def _show_state(self, is_searching: bool) -> None:
        text = tr("Enter opens, Ctrl+Enter opens in split view, Esc closes.")
        if is_searching:
            text = tr("Searching all messages…")
        elif self.field.text().strip() and not self.model.rows:
            text = tr("No title or message contains these words.")
        self._state.setText(text)
        self._place()

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self._show_titles()
        self.typed.emit(text)

    @Slot()
    def _on_reset(self) -> None:
        first = next(
            (place for place, row in enumerate(self.model.rows) if isinstance(row, FoundMessages)), -1
        )
        self.list.setCurrentIndex(self.model.index(first) if first >= 0 else QModelIndex())

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        self._choose(index, is_beside=False)

    def _choose(self, index: QModelIndex, is_beside: bool) -> None:
        found = self.model.found_at(index)
        if found is None:
            return
        self.hide()
        if is_beside:
            self.beside_chosen.emit(found.chat_id)
        else:
            self.chosen.emit(found.chat_id, found.turn_id, self.field.text().strip() if found.turn_id else "")

    def _step(self, step: int) -> None:
        """Moves by `step` selectable rows, without wrapping around."""
        place = self.list.currentIndex().row() + step
        places = [at for at, row in enumerate(self.model.rows) if isinstance(row, FoundMessages)]
        wanted = (
            [at for at in places if at >= place] if step > 0 else [at for at in places if at <= place][::-1]
        )
        if wanted:
            self.list.setCurrentIndex(self.model.index(wanted[0]))
            self.list.scrollTo(self.model.index(max(0, wanted[0] - 1)))
            self.list.scrollTo(self.model.index(wanted[0]))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._field_icon.setIcon(icon("search"))

    def hideEvent(self, event: QHideEvent) -> None:
        """Closed, it holds no chats; with its window it is hidden only for a while."""
        super().hideEvent(event)
        if self.isHidden():
            self._known, self._came_from = Known((), {}), None
            self.model.set_titles("", (), {})

    def event(self, event: QEvent) -> bool:
        return keeps_escape(event) or super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._ground and event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        if watched is self.field and isinstance(event, QKeyEvent):
            return self._on_key(event)
        if watched is self.field and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self._on_focus_left()
        return False

    def _on_key(self, event: QKeyEvent) -> bool:
        """Handles the list's keys, pressed in the field."""
        key = event.key()
        if event.type() != QEvent.Type.KeyPress:
            return False
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        if key == Qt.Key.Key_Escape:
            self.close_quietly()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_beside = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._choose(self.list.currentIndex(), is_beside)
        elif key in steps:
            self._step(steps[Qt.Key(key)])
        else:
            return False
        return True

    def _on_focus_left(self) -> None:
        """A click elsewhere closes it; another window in front does not."""
        if self.window().isActiveWindow():
            self.hide()
