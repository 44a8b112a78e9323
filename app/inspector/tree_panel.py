"""The tree panel: versions and forks of the open chat as a picture. GUI thread."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtWidgets import QPushButton, QWidget

from app.chats.branches import Branch, path_to
from app.chats.chat import Turn
from app.inspector.dock_panel import DockPanel
from app.inspector.marked_text import MarkedText
from app.inspector.recording import Recording, shown
from app.inspector.tree_table import Seqs, TreeRows, TreeTable, holders_of, text_of, token_ranges
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import mark, tr, tr_n
from app.protocol.commands import Tokenize
from app.protocol.report import SlotSnapshot, TokenizedText

NOTHING = mark("This chat is empty. Its versions and forks will appear here.")
RECORDED = mark("This is a recording. Go back to the running engine to see the branches of a chat.")
HINT = mark("Click to go there. Choose a second message with Ctrl to compare the two.")
MAX_ROWS = 20_000  # of a chat that was imported
TINT = 0.28
HEIGHT = 88  # some five lines: the tree stays in sight
_WORDS = re.compile(r"\s*[^\s]+|\s+")
AROUND = 120  # characters before and behind the first different one: enough to see their tokens


class TreePanel(DockPanel):
    NAME = "tree"
    WATCHES_CELLS = True
    TITLE = mark("Branches")
    SIZE, MIN_SIZE = QSize(600, 300), QSize(240, 160)

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
        self.hint = PlainLabel(tr(HINT), self, tone="muted", wraps=True)
        self.answers = QPushButton(tr("Several answers…"), self)
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

    def _lay_out(self) -> None:
        for label in (self.figures, self.hint):
            label.setFont(tabular(small_font()))
        self.answers.setFont(small_font())
        self.answers.setToolTip(
            tr("Ask for several answers at once at the chosen message, with settings of your choice")
        )
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


@dataclass(frozen=True, slots=True)
class Parting:
    """The first `num_common` pieces of both are equal; `one` and `other` are those that come next, if any."""

    num_common: int
    num_common_chars: int
    one: str | None
    other: str | None

    @property
    def is_same(self) -> bool:
        return self.one is None and self.other is None


def words_of(text: str) -> list[str]:
    """In place of tokens, without a model."""
    return _WORDS.findall(text)


def part(one: Sequence[str], other: Sequence[str]) -> Parting:
    num_common = next(
        (place for place, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its),
        min(len(one), len(other)),
    )
    nexts = (pieces[num_common] if num_common < len(pieces) else None for pieces in (one, other))
    return Parting(num_common, sum(map(len, one[:num_common])), *nexts)


def pieces_of(text: str, tokens: Sequence[bytes]) -> list[str]:
    """A text cut where its tokens end; bytes of one character stay with the token that begins it.

    The text itself, in words, where the tokens do not spell it.
    """
    pieces, held = list[str](), b""
    for token in tokens:
        held += token
        try:
            piece = held.decode()
        except UnicodeDecodeError:
            continue
        pieces.append(piece)
        held = b""
    return pieces if "".join(pieces) == text else words_of(text)


def around_parting(one: str, other: str) -> tuple[int, str, str]:
    """The place where a few words before the first difference begin, and both texts from there on, cut."""
    place = part(one, other).num_common
    begin = max(one.rfind(" ", 0, max(place - AROUND, 0)), 0)
    return begin, one[begin : place + AROUND], other[begin : place + AROUND]


class PartingBox(QWidget):
    """`texts_wanted` are to be tokenized and given to `take`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.head = PlainLabel(parent=self, tone="muted", wraps=True)
        self.head.setFont(small_font())
        self.sides = (_Side(tr("First message"), self), _Side(tr("Second message"), self))
        self._begin, self._around = 0, ("", "")
        self._tokens: dict[str, tuple[bytes, ...]] = {}
        vbox(self.head, (hbox(*((side, 1) for side in self.sides)), 1), on=self, margins=(12, 4, 12, 0))

    @property
    def texts_wanted(self) -> tuple[str, ...]:
        """Texts whose tokens are not known yet."""
        return tuple(text for text in dict.fromkeys(self._around) if text and text not in self._tokens)

    def apply(self, one: str, other: str) -> None:
        if [side.text for side in self.sides] == [one, other]:
            return
        self._begin, *around = around_parting(one, other)
        self._around, self._tokens = (around[0], around[1]), {}
        for side, text in zip(self.sides, (one, other), strict=True):
            side.show_text(text)
        self._show()

    def take(self, tokenized: TokenizedText) -> None:
        if tokenized.text in self.texts_wanted:
            self._tokens[tokenized.text] = tokenized.tokens.texts
            self._show()

    def _show(self) -> None:
        if self.texts_wanted:
            pieces = [words_of(text) for text in self._around]
        else:
            pieces = [pieces_of(text, self._tokens.get(text, ())) for text in self._around]
        parting = part(*pieces)
        self.head.setText(_words(parting, self._begin + parting.num_common_chars))
        for side, piece in zip(self.sides, (parting.one, parting.other), strict=True):
            side.mark(self._begin + parting.num_common_chars, piece or "")


def _words(parting: Parting, place: int) -> str:
    if parting.is_same:
        return tr("Both are the same.")
    one, other = (
        tr("the end") if piece is None else f"“{shown(piece.encode())}”"
        for piece in (parting.one, parting.other)
    )
    return tr(
        "The same for {number} characters, then {one} and {other}.", number=count(place), one=one, other=other
    )


class _Side(MarkedText):
    """What both have is muted, and the first token that differs is marked."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(name, parent)
        self.setFixedHeight(HEIGHT)

    def mark(self, place: int, piece: str) -> None:
        muted, marked = QTextCharFormat(), QTextCharFormat()
        muted.setForeground(QColor(current().muted))
        tint = QColor(current().accent)
        tint.setAlphaF(TINT)
        marked.setBackground(tint)
        self.setExtraSelections(
            [self.marked(0, place, muted), self.marked(place, place + len(piece), marked)]
        )
        self.setTextCursor(self.cursor_over(place, place))
        self.ensureCursorVisible()
