"""The tree panel: versions and forks of the open chat as a picture. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.chats.branches import Branch, path_to
from app.chats.chat import Turn
from app.inspector.dock_panel import DockPanel
from app.inspector.parting_box import PartingBox
from app.inspector.recording import Recording
from app.inspector.tree_strokes import Seqs, holders_of, token_ranges
from app.inspector.tree_table import TreeRows, TreeTable, text_of
from app.look.fonts import small_font, tabular
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.popups import Menu
from app.look.words import mark, tr, tr_n
from app.protocol.commands import Tokenize, WatchCells
from app.protocol.report import SlotSnapshot

NOTHING = mark("This chat is empty. Its versions and forks will appear here.")
RECORDED = mark("This is a recording. Go back to the running engine to see the branches of a chat.")
HINT = mark("Click to go there. Choose a second message with Ctrl to compare the two.")
MAX_ROWS = 20_000  # of a chat that was imported


class TreePanel(DockPanel):
    NAME = "tree"
    TITLE = mark("Branches")
    SIZE, MIN_SIZE = QSize(600, 300), QSize(240, 160)

    shown = Signal()  # it can be seen now: the window calls `show_chat`
    turn_activated = Signal(str, object)  # chat_id, the Turn to go to
    answers_requested = Signal(str, object)  # chat_id, the Turn after or instead of which several are wanted

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        # The last turn whose cells a slot holds; set by who knows the chats.
        self.last_turn_in: Callable[[SlotSnapshot], Turn | None] = lambda _slot: None
        self.rows = TreeRows(self)
        self.table = TreeTable(self.rows, self)
        self.parting = PartingBox(self)
        self.head = heading("", self)
        self.figures = PlainLabel(parent=self, tone="muted")
        self.message = PlainLabel(parent=self, tone="muted", wraps=True)
        self.hint = PlainLabel(tr(HINT), self, tone="muted", wraps=True)
        self.answers = QPushButton(tr("Several answers…"), self)
        self._is_watching = False
        self._asked: set[str] = set()  # texts to be tokenized
        self._lay_out()
        self.setFocusProxy(self.table)
        self.table.clicked_alone.connect(self._go_to)
        self.table.activated.connect(self._go_to)
        self.table.selectionModel().selectionChanged.connect(self._show_choice)
        self.table.customContextMenuRequested.connect(self._on_menu_requested)
        self.answers.clicked.connect(self._on_answers)
        self.reset()

    # What is shown.

    def show_chat(self, title: str, branches: tuple[Branch, ...]) -> None:
        """Keeps what is chosen, as far as it is still there."""
        chosen = [self.rows.branches[row].turn for row in self.table.chosen_rows]
        self.rows.show(branches[:MAX_ROWS])
        self.table.fit()
        self._asked.clear()
        self.head.setText(title)
        self.figures.setText(_figures(branches))
        self._choose(chosen)
        self._show()
        self._note_cells()

    def draw(self) -> None:
        self._note_cells()
        if self.recording.tokenized:
            self.parting.take(self.recording.tokenized)
        self._ask_for_tokens()

    def reset(self) -> None:
        self._asked.clear()
        self._show()
        self._watch(self.isVisible() and self.recording.is_live)

    def showEvent(self, event: QShowEvent) -> None:
        self._watch(self.recording.is_live)
        super().showEvent(event)
        self.shown.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._watch(False)

    def _lay_out(self) -> None:
        for label in (self.figures, self.hint):
            label.setFont(tabular(small_font()))
        self.answers.setFont(small_font())
        self.answers.setToolTip(
            tr("Ask for several answers at once at the chosen message, with settings of your choice")
        )
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        top = hbox(self.head, (self.figures, 1), margins=(12, 6, 12, 6), spacing=12)
        foot = hbox((self.hint, 1), self.answers, margins=(12, 6, 12, 8), spacing=12)
        vbox(top, (self.table, 1), self.parting, (self.message, 1), foot, on=self, spacing=0)

    def _show(self) -> None:
        has_rows = bool(self.rows.branches) and self.recording.is_live
        for part in (self.table, self.head, self.figures, self.hint, self.answers):
            part.setVisible(has_rows)
        self.message.setVisible(not has_rows)
        self.message.setText(tr(NOTHING if self.recording.is_live else RECORDED))
        self._show_choice()

    def _watch(self, is_watching: bool) -> None:
        if is_watching != self._is_watching:
            self._is_watching = is_watching
            self.commanded.emit(WatchCells(is_watching))

    # The cells of each turn.

    def _note_cells(self) -> None:
        branches, newest = self.rows.branches, self.recording.newest
        held: dict[int, Seqs] = {}
        for slot in newest.slots if newest else ():
            last = self.last_turn_in(slot) if slot.num_cells else None
            row = self.rows.row_of(last) if last else None
            if last is None or row is None:
                continue
            path = path_to(branches, row)
            places = token_ranges([*(branches[step].turn for step in path[:-1]), last])
            holders = holders_of(self.recording.cell_map, slot.seq_id, places)
            for step, seqs in zip(path, holders, strict=True):
                held[step] = tuple(sorted({*held.get(step, ()), *seqs}))
        self.rows.note(held)

    # Choosing.

    def _choose(self, turns: list[Turn]) -> None:
        model = self.table.selectionModel()
        flag = model.SelectionFlag.Select | model.SelectionFlag.Rows
        for turn in turns:
            if (row := self.rows.row_of(turn)) is not None:
                model.select(self.rows.index(row, 0), flag)

    @Slot()
    def _show_choice(self) -> None:
        chosen = self.table.chosen_rows
        self.parting.setVisible(len(chosen) == 2 and self.table.isVisibleTo(self))
        if len(chosen) == 2:
            self.parting.apply(*(text_of(self.rows.branches[row].turn) for row in chosen))
            self._ask_for_tokens()
        self.answers.setEnabled(len(chosen) == 1)

    def _ask_for_tokens(self) -> None:
        """One text at a time: the recording keeps the newest only."""
        if self.recording.model is None or not self.parting.isVisibleTo(self):
            return
        wanted = self.parting.texts_wanted
        if wanted and wanted[0] not in self._asked:
            self._asked.add(wanted[0])
            self.commanded.emit(Tokenize(wanted[0]))

    @Slot(QModelIndex)
    def _go_to(self, index: QModelIndex) -> None:
        if index.isValid():
            chat_id, turn = self.rows.branches[index.row()].places[0]
            self.turn_activated.emit(chat_id, turn)

    @Slot()
    def _on_answers(self) -> None:
        for row in self.table.chosen_rows[:1]:
            chat_id, turn = self.rows.branches[row].places[0]
            self.answers_requested.emit(chat_id, turn)

    @Slot(QPoint)
    def _on_menu_requested(self, place: QPoint) -> None:
        index = self.table.indexAt(place)
        if not index.isValid():
            return
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("&Go there")).triggered.connect(lambda: self._go_to(index))
        answers = menu.addAction(tr("&Several answers…"))
        answers.setEnabled(self.answers.isEnabled())
        answers.triggered.connect(self._on_answers)
        menu.popup(self.table.viewport().mapToGlobal(place))


def _figures(branches: tuple[Branch, ...]) -> str:
    followed = {branch.parent for branch in branches}
    num_ends = sum(row not in followed for row in range(len(branches)))
    num_chats = len({chat_id for branch in branches for chat_id, _ in branch.places})
    parts = (
        tr_n("{n} message", "{n} messages", len(branches)),
        tr_n("{n} branch", "{n} branches", num_ends),
        tr_n("{n} chat", "{n} chats", num_chats),
    )
    return " · ".join(parts)
