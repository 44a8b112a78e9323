"""How much of what the model read was read for a part: as tints of the text, and by passage. GUI thread."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QTextCharFormat
from PySide6.QtWidgets import QTextEdit, QWidget

from app.inspector.lens_text import ReadPart, ReadText
from app.inspector.marked_text import MarkedText
from app.look.figures import decimal
from app.look.list import Index
from app.look.plain_text import as_tooltip, one_line
from app.look.table import Column, RowDelegate, RowModel
from app.look.tokens import current
from app.look.words import mark, tr
from app.protocol.lens import Span
from app.protocol.request import Role

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MARGIN = 12
NUM_LEVELS = 8  # of the tint
MAX_TINT = 0.75
MAX_TINTED = 3_000  # tokens, the most read ones: each run of them costs the painter
COLUMNS = (
    Column("passage", stretches=True),
    Column("read", "Share of the attention paid to earlier tokens", "100.0%", is_number=True),
    Column(
        "if dropped",
        "Change in the sentence's log-probability without this: the lower, the more it matters",
        "−000.00",
        is_number=True,
    ),
)
PASSAGE, READ, DROPPED = range(len(COLUMNS))
ROLES = {
    Role.SYSTEM: mark("System prompt"),
    Role.USER: mark("You"),
    Role.ASSISTANT: mark("Answer"),
    Role.TOOL: mark("Tool"),
}
MAX_CHARS = 160
MINUS = "−"


class HeatView(MarkedText):
    token_clicked = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(tr("What the model read"), parent)
        self._read = ReadText(())
        self.document().setDocumentMargin(MARGIN)

    def show_read(self, read: ReadText) -> None:
        self._read = read
        self.show_text(read.text)

    def show_heat(self, heat: "Floats | None", part: Span | None, marked: Span | None = None) -> None:
        """`part` is what it was read for. `marked` is a passage to be found."""
        selections = [] if heat is None else self._tints(heat)
        if part:
            form = QTextCharFormat()
            form.setFontUnderline(True)
            form.setForeground(QColor(current().accent))
            selections.append(self._selection(part, form))
        if marked:
            form = QTextCharFormat()
            form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            form.setUnderlineColor(QColor(current().accent))
            selections.append(self._selection(marked, form))
        self.setExtraSelections(selections)

    def reveal(self, tokens: Span) -> None:
        cursor = self.cursor_over(*self._read.chars_of(tokens))
        cursor.setPosition(cursor.selectionStart())
        self.setTextCursor(cursor)
        self.centerCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            place = self.cursorForPosition(event.position().toPoint()).position()
            before = self.text.encode("utf-16-le")[: 2 * place].decode("utf-16-le", "ignore")
            self.token_clicked.emit(self._read.token_at(len(before)))

    def _tints(self, heat: "Floats") -> list[QTextEdit.ExtraSelection]:
        """Runs of tokens of one level share a selection."""
        most = float(heat.max()) if len(heat) else 0.0
        if most <= 0:
            return []
        levels = [math.ceil(NUM_LEVELS * math.sqrt(one / most)) if one > 0 else 0 for one in heat.tolist()]
        if len(levels) > MAX_TINTED:
            least = sorted(heat.tolist())[-MAX_TINTED]
            levels = [level if one >= least else 0 for level, one in zip(levels, heat.tolist(), strict=True)]
        return [self._selection(run, _tinted(level)) for run, level in runs(levels) if level > 1]

    def _selection(self, tokens: Span, form: QTextCharFormat) -> QTextEdit.ExtraSelection:
        return self.marked(*self._read.chars_of(tokens), form)


def runs(levels: Sequence[int]) -> list[tuple[Span, int]]:
    runs: list[tuple[Span, int]] = []
    for token, level in enumerate(levels):
        if runs and runs[-1][1] == level:
            runs[-1] = ((runs[-1][0][0], token + 1), level)
        else:
            runs.append(((token, token + 1), level))
    return runs


def _tinted(level: int) -> QTextCharFormat:
    form, tint = QTextCharFormat(), QColor(current().accent)
    tint.setAlphaF(MAX_TINT * level / NUM_LEVELS)
    form.setBackground(tint)
    return form


class PassageRows(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self.parts: Sequence[ReadPart] = ()
        self.shares: Sequence[float] = ()
        self.changes: Mapping[Span, float] = {}

    def show(self, parts: Sequence[ReadPart]) -> None:
        self.beginResetModel()
        self.parts, self.shares, self.changes = parts, (), {}
        self.endResetModel()

    def note_heat(self, heat: "Floats | None") -> None:
        self.shares = () if heat is None else [float(heat[slice(*part.tokens)].sum()) for part in self.parts]
        self.redraw()

    def note_changes(self, changes: Mapping[Span, float]) -> None:
        self.changes = changes
        self.redraw()

    def most_needed(self) -> ReadPart | None:
        """Without which the sentence is least likely, among passages that are no message with several.

        Not the last one: without the question there is nothing to answer.
        """
        known = [part for part in self.leaves[:-1] if part.tokens in self.changes]
        return min(known, key=lambda part: self.changes[part.tokens], default=None)

    @property
    def leaves(self) -> list[ReadPart]:
        with_passages = {part.message for part in self.parts}
        return [part for number, part in enumerate(self.parts) if number not in with_passages]

    def num_rows(self) -> int:
        return len(self.parts)

    def text_at(self, row: int, column: int) -> str:
        part = self.parts[row]
        if column == PASSAGE:
            text = one_line(part.text[:MAX_CHARS])
            is_message = part.message is None
            return tr("{role}: {text}", role=_role(part.role), text=text) if is_message else text
        if column == READ:
            return f"{decimal(100 * self.shares[row], 1)}%" if row < len(self.shares) else ""
        change = self.changes.get(part.tokens)
        if change is None:
            return ""
        sign = "" if abs(change) < 0.005 else MINUS if change < 0 else "+"
        return f"{sign}{decimal(abs(change), 2)}"

    def tip_at(self, row: int, column: int) -> str:
        return as_tooltip(self.parts[row].text[:2_000]) if column == PASSAGE else ""

    def is_muted(self, row: int, column: int) -> bool:
        return column == PASSAGE and self.parts[row].message is None

    def bar_at(self, row: int, column: int) -> tuple[float, str] | None:
        if column == READ and row < len(self.shares):
            return self.shares[row], current().accent
        change = self.changes.get(self.parts[row].tokens)
        if column == DROPPED and change is not None and change < 0:
            return change / min(self.changes.values()), current().warning
        return None


def _role(role: str) -> str:
    return tr(ROLES[Role(role)]) if role in ROLES else tr("Prompt")


class PassageDelegate(RowDelegate):
    """Passages stand a little to the right of their message."""

    rows: PassageRows

    def decorate(self, _painter: QPainter, rect: QRect, index: Index, _text: str) -> QRect:
        is_inner = index.column() == PASSAGE and self.rows.parts[index.row()].message is not None
        return rect.adjusted(16 if is_inner else 0, 0, 0, 0)
