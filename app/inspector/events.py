"""The events panel: what the engine did with cells, and llama.cpp's log. GUI thread."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QSize, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QToolButton, QWidget

from app.inspector.dock_panel import DockPanel
from app.inspector.event_words import words
from app.inspector.panel_buttons import ChipButton
from app.inspector.recording import MAX_EVENTS, Journal, JournalEntry, Recording
from app.look.figures import count, decimal
from app.look.file_dialog import SAVED, file_dialog
from app.look.fonts import small_font
from app.look.layouts import hbox, vbox
from app.look.list import Index
from app.look.plain_text import PlainLabel, as_tooltip, search_field
from app.look.popups import Menu
from app.look.table import LEFT, Column, RowModel, RowTable
from app.look.words import mark, tr, tr_said
from app.protocol.events import Event, EventKind

TEXT_FILES, JSON_FILES = mark("Text (*.txt)"), mark("JSON lines (*.jsonl)")
TRIM = 500  # lines are removed in batches, so that not every new one costs a removal
_ROOT = QModelIndex()
EventEntry = JournalEntry[Event]
KINDS = {
    EventKind.LEASE: mark("slot taken"),
    EventKind.RELEASE: mark("slot released"),
    EventKind.SHARE: mark("share"),
    EventKind.FORK: mark("fork"),
    EventKind.HIBERNATE: mark("hibernate"),
    EventKind.RESTORE: mark("restore"),
    EventKind.EVICT: mark("evict"),
    EventKind.CLEAR: mark("clear"),
    EventKind.SHIFT: mark("shift"),
    EventKind.PIN: mark("pin"),
    EventKind.PAUSE: mark("pause"),
    EventKind.RESUME: mark("resume"),
    EventKind.ABORT: mark("abort"),
    EventKind.OVERFLOW: mark("overflow"),
    EventKind.GRAMMAR: mark("grammar"),
    EventKind.TOOL: mark("tool"),
    EventKind.DRAFT: mark("draft model"),
    EventKind.ENCODE: mark("encode"),
    EventKind.VERIFY: mark("verify"),
    EventKind.CONNECTION: mark("connection"),
    EventKind.NATIVE: mark("native log"),
}
COLUMNS = (
    Column("step", widest="999,999", is_number=True, is_muted=True),
    Column("time", widest="00:00:00.000", is_muted=True),
    Column("kind", widest=tuple(KINDS.values())),
    Column("seq", "A chat's place in the shared context (llama.cpp's seq_id)", "00", is_sequence=True),
    Column("tab", width=88),
    Column("event", stretches=True),
)
STEP, TIME, KIND, SEQ, TAB, TEXT = range(len(COLUMNS))


def kind_text(kind: EventKind) -> str:
    return tr(KINDS[kind])


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events are shown. `seq_id` None means all sequences."""

    kinds: frozenset[EventKind] = frozenset(EventKind)
    seq_id: int | None = None
    needle: str = ""

    def fits(self, event: Event, title: str) -> bool:
        if event.kind not in self.kinds or self.seq_id not in (None, event.seq_id):
            return False
        return self.needle.casefold() in f"{kind_text(event.kind)} {title} {tr_said(words(event))}".casefold()


@dataclass(frozen=True, slots=True)
class Clock:
    """Writes `time.perf_counter()` seconds: as time of day, or as seconds since `start`."""

    start: float | None = None
    epoch: float = time.time() - time.perf_counter()

    def text(self, started_at: float) -> str:
        if self.start is not None:
            return tr("{number} s", number=decimal(started_at - self.start, 3))
        moment = datetime.fromtimestamp(self.epoch + started_at)  # noqa: DTZ006  the user's own time of day
        return moment.strftime("%H:%M:%S.") + f"{moment.microsecond // 1000:03}"


class EventList(RowModel):
    """The newest at the end."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self.filter = EventFilter()
        self.clock = Clock()
        self._journal: Journal[Event] = Journal(1)
        self._num_seen = 0
        self._titles: Mapping[str, str] = {}
        self._shown: list[EventEntry] = []

    def follow(self, journal: Journal[Event]) -> None:
        """Show these from now on."""
        self._journal = journal
        self._show_all()

    def set_filter(self, wanted: EventFilter) -> None:
        if wanted != self.filter:
            self.filter = wanted
            self._show_all()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self._titles = titles
        self.redraw(TAB, TAB)

    def read_on(self) -> bool:
        """Take new events. False: none of them is shown."""
        new = [entry for entry in self._journal.new_since(self._num_seen) if self._fits(entry)]
        self._num_seen = self._journal.num_seen
        if not new:
            return False
        self.beginInsertRows(_ROOT, len(self._shown), len(self._shown) + len(new) - 1)
        self._shown += new
        self.endInsertRows()
        if (num_over := len(self._shown) - MAX_EVENTS) > TRIM:
            self.beginRemoveRows(_ROOT, 0, num_over - 1)
            del self._shown[:num_over]
            self.endRemoveRows()
        return True

    def entry_at(self, row: int) -> EventEntry:
        return self._shown[row]

    def texts_of(self, entry: EventEntry) -> tuple[str, ...]:
        event = entry.what
        return (
            count(entry.step),
            self.clock.text(entry.started_at),
            kind_text(event.kind),
            "" if event.seq_id is None else str(event.seq_id),
            self._title_of(event),
            tr_said(words(event)),
        )

    def as_text(self, rows: Iterable[int]) -> str:
        """One line for each, its parts with a tab between them."""
        return "".join("\t".join(self.texts_of(self._shown[row])) + "\n" for row in rows)

    def as_json_lines(self, rows: Iterable[int]) -> str:
        return "".join(json.dumps(self._as_json(self._shown[row]), ensure_ascii=False) + "\n" for row in rows)

    def num_rows(self) -> int:
        return len(self._shown)

    def text_at(self, row: int, column: int) -> str:
        return self.texts_of(self._shown[row])[column]

    def tip_at(self, row: int, _column: int) -> str:
        return as_tooltip(tr_said(words(self._shown[row].what)))

    def _show_all(self) -> None:
        self.beginResetModel()
        self._shown = [entry for entry in self._journal.entries if self._fits(entry)]
        self._num_seen = self._journal.num_seen
        self.endResetModel()

    def _fits(self, entry: EventEntry) -> bool:
        return self.filter.fits(entry.what, self._title_of(entry.what))

    def _title_of(self, event: Event) -> str:
        return self._titles.get(event.chat_id, "") if event.chat_id else ""

    def _as_json(self, entry: EventEntry) -> dict[str, object]:
        event = entry.what
        return {
            "step": entry.step,
            "time": self.clock.text(entry.started_at),
            "kind": event.kind.value,
            "seq_id": event.seq_id,
            "chat_id": event.chat_id,
            "tab": self._title_of(event) or None,
            "text": words(event),
        }


class EventsPanel(DockPanel):
    NAME = "events"
    TITLE = mark("Events")
    SIZE, MIN_SIZE = QSize(600, 200), QSize(240, 96)

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.events = EventList(self)
        self.table = _Table(self.events, self)
        self._selected: int | None = None  # the sequence chosen in any panel
        self._make_bar()
        self._notice = PlainLabel(parent=self, tone="danger", wraps=True)
        self._notice.hide()
        vbox(self._bar, (self.table, 1), self._notice, on=self, spacing=0)
        self.setFocusProxy(self.table)
        self.table.scrolled.connect(self._on_scrolled)
        self.table.doubleClicked.connect(self._on_double_clicked)
        self.table.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.reset()

    def draw(self) -> None:
        has_new = self.events.read_on()  # asked before: the table's scroll range is not updated yet
        if self.follow.isChecked() and (has_new or not self.table.is_at_end):
            self.table.scrollToBottom()

    def reset(self) -> None:
        entries = self.recording.events.entries
        start = None if self.recording.is_live else next((entry.started_at for entry in entries), 0.0)
        self.events.clock = Clock(start)
        self.events.follow(self.recording.events)

    def set_titles(self, titles: Mapping[str, str]) -> None:
        super().set_titles(titles)
        self.events.set_titles(dict(self.recording.titles) | dict(titles))

    def select_sequence(self, seq_id: int) -> None:
        self._selected = seq_id
        self.only_selected.setEnabled(True)
        self.only_selected.setText(tr("Sequence {seq_id}", seq_id=seq_id))
        self._apply_filter()

    # The bar above the table.

    def _make_bar(self) -> None:
        self.search = search_field(tr("Search events"), self)
        for clear in self.search.findChildren(QToolButton):
            clear.setAccessibleName(tr("Clear search"))
        self.search.setFont(small_font())
        self.search.textChanged.connect(self._apply_filter)
        self.kinds = _KindMenu(self)
        for kind in EventKind:
            action = self.kinds.addAction(kind_text(kind))
            action.setData(kind)
            action.setCheckable(True)
            action.setChecked(True)
            action.toggled.connect(self._apply_filter)
        self.kinds.add_all()
        self._kinds_button = ChipButton(tr("Kinds"), tr("Kinds of events to show"), self)
        self._kinds_button.setMenu(self.kinds)
        self._kinds_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.only_selected = ChipButton(
            tr("Sequence"), tr("Only events of the selected sequence"), self, is_checkable=True
        )
        self.only_selected.setEnabled(False)
        self.only_selected.toggled.connect(self._apply_filter)
        self.follow = ChipButton(tr("Follow"), tr("Keep the latest event in view"), self, is_checkable=True)
        self.follow.setChecked(True)
        self.follow.toggled.connect(self._on_follow_toggled)
        export = ChipButton(tr("Export…"), tr("Save the events shown as text or JSON lines"), self)
        export.clicked.connect(self._choose_file)
        self._bar = hbox(
            (self.search, 1),
            self._kinds_button,
            self.only_selected,
            self.follow,
            export,
            margins=(8, 4, 8, 4),
            spacing=2,
        )

    @Slot()
    def _apply_filter(self) -> None:
        shown = [EventKind(action.data()) for action in self.kinds.choices() if action.isChecked()]
        seq_id = self._selected if self.only_selected.isChecked() else None
        self.events.set_filter(EventFilter(frozenset(shown), seq_id, self.search.text()))
        some = tr("Kinds {shown}/{total}", shown=len(shown), total=len(EventKind))
        self._kinds_button.setText(tr("Kinds") if len(shown) == len(EventKind) else some)
        if self.follow.isChecked():
            self.table.scrollToBottom()

    # What the user does with the lines.

    @Slot()
    def _on_scrolled(self) -> None:
        """Scrolling up stops following; at the end it follows again."""
        self.follow.setChecked(self.table.is_at_end)

    @Slot(bool)
    def _on_follow_toggled(self, is_following: bool) -> None:
        if is_following:
            self.table.scrollToBottom()

    def _on_double_clicked(self, index: Index) -> None:
        event = self.events.entry_at(index.row()).what
        if event.chat_id:
            self.chat_activated.emit(event.chat_id)

    def _on_selection_changed(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        if len(rows) == 1:
            self.step_selected.emit(self.events.entry_at(rows[0].row()).step)

    @Slot()
    def _choose_file(self) -> None:
        dialog = file_dialog(self, tr("Export events"), SAVED, tr(TEXT_FILES), tr(JSON_FILES))
        dialog.selectFile("skein-events.txt")
        dialog.setDefaultSuffix("txt")
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix("jsonl" if chosen == tr(JSON_FILES) else "txt")
        )
        dialog.fileSelected.connect(lambda name: self.export(Path(name)))
        dialog.open()

    def export(self, path: Path) -> None:
        """What is shown, as JSON lines if the name ends so."""
        rows = range(self.events.rowCount())
        is_json = path.suffix in (".jsonl", ".json")
        text = self.events.as_json_lines(rows) if is_json else self.events.as_text(rows)
        try:
            path.write_text(text, encoding="utf-8")
            self._notice.hide()
        except OSError as error:
            reason = tr(
                "The events could not be saved in {path}: {reason}.", path=path, reason=error.strerror
            )
            self._notice.setText(reason)
            self._notice.show()


class _KindMenu(Menu):
    """Stays open while several are chosen with the mouse."""

    def choices(self) -> list[QAction]:
        return [action for action in self.actions() if action.isCheckable()]

    def add_all(self) -> None:
        """Two actions that choose all kinds, or none of them."""
        self.addSeparator()
        for text, is_shown in ((tr("All kinds"), True), (tr("No kinds"), False)):
            self.addAction(text).triggered.connect(partial(self._check_all, is_shown))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        action = self.actionAt(event.position().toPoint())
        if action in self.choices():
            action.trigger()
        else:
            super().mouseReleaseEvent(event)

    def _check_all(self, is_shown: bool) -> None:
        for action in self.choices():
            action.setChecked(is_shown)


class _Table(RowTable):
    """Reports scrolling by the user, and copies whole lines."""

    scrolled = Signal()

    def __init__(self, events: EventList, parent: QWidget) -> None:
        super().__init__(tr("Events"), events, parent)
        self._events = events
        self.setSelectionMode(RowTable.SelectionMode.ExtendedSelection)
        self.horizontalHeader().setDefaultAlignment(LEFT)
        self.verticalScrollBar().actionTriggered.connect(lambda _action: self.scrolled.emit())

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.sliderPosition() >= bar.maximum()

    @Slot()
    def copy(self) -> None:
        """Also what Edit > Copy calls."""
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        QGuiApplication.clipboard().setText(self._events.as_text(rows))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return
        super().keyPressEvent(event)
        self.scrolled.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        is_at_end = self.is_at_end
        super().resizeEvent(event)
        if is_at_end:
            self.scrollToBottom()
