"""The events panel: what the engine did with cells, and llama.cpp's log. GUI thread."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QToolButton, QWidget

from app.inspector.choice_button import ChipButton
from app.inspector.dock_panel import DockPanel
from app.inspector.event_list import Clock, EventList, kind_text
from app.inspector.recording import Recording
from app.inspector.row_table import Index, RowTable
from app.look.fonts import small_font
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, search_field
from app.look.popups import Menu
from app.look.tables import LEFT
from app.look.words import mark, tr
from app.protocol.events import EventKind

TEXT_FILES, JSON_FILES = mark("Text (*.txt)"), mark("JSON lines (*.jsonl)")


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
        column = vbox(self._bar, (self.table, 1), on=self, spacing=0)
        self._notice = PlainLabel(parent=self, tone="danger", wraps=True)
        self._notice.hide()
        column.addWidget(self._notice)
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
        entries = self.recording.log.events.entries
        start = None if self.recording.is_live else next((entry.started_at for entry in entries), 0.0)
        self.events.clock = Clock(start)
        self.events.follow(self.recording.log.events)

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
        wanted = replace(self.events.filter, kinds=frozenset(shown), seq_id=seq_id, needle=self.search.text())
        self.events.set_filter(wanted)
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
        dialog = QFileDialog(self, tr("Export events"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([tr(TEXT_FILES), tr(JSON_FILES)])
        dialog.selectFile("skein-events.txt")
        dialog.setDefaultSuffix("txt")
        dialog.filterSelected.connect(
            lambda chosen: dialog.setDefaultSuffix("jsonl" if chosen == tr(JSON_FILES) else "txt")
        )
        dialog.fileSelected.connect(lambda name: self.export(Path(name)))
        dialog.open()  # never exec: a nested loop would stop every coroutine

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
