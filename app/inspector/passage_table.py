"""Messages and their passages: how much of each was read, and what leaving it out changes. GUI thread."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.inspector.candidate_table import paint_bar
from app.inspector.lens_text import Part
from app.inspector.row_table import Index, RowDelegate, RowModel, RowTable
from app.inspector.table_column import Column
from app.look.figures import decimal
from app.look.plain_text import as_tooltip, one_line
from app.look.tokens import current
from app.look.words import mark, tr
from app.protocol.lens import Span
from app.protocol.request import Role

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

COLUMNS = (
    Column(mark("passage"), stretches=True),
    Column(mark("read"), mark("Share of the attention paid to earlier tokens"), "100.0%", is_number=True),
    Column(
        mark("if dropped"),
        mark("Change in the sentence's log-probability without this: the lower, the more it matters"),
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


class PassageRows(RowModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self.parts: Sequence[Part] = ()
        self.shares: Sequence[float] = ()
        self.changes: Mapping[Span, float] = {}

    def show(self, parts: Sequence[Part]) -> None:
        self.beginResetModel()
        self.parts, self.shares, self.changes = parts, (), {}
        self.endResetModel()

    def note_heat(self, heat: "Floats | None") -> None:
        self.shares = () if heat is None else [float(heat[slice(*part.tokens)].sum()) for part in self.parts]
        self._emit_changed()

    def note_changes(self, changes: Mapping[Span, float]) -> None:
        self.changes = changes
        self._emit_changed()

    def most_needed(self) -> Part | None:
        """Without which the sentence is least likely, among passages that are no message with several.

        Not the last one: without the question there is nothing to answer.
        """
        known = [part for part in self.leaves[:-1] if part.tokens in self.changes]
        return min(known, key=lambda part: self.changes[part.tokens], default=None)

    @property
    def leaves(self) -> list[Part]:
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

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == PASSAGE:
            return as_tooltip(self.parts[index.row()].text[:2_000])
        return super().data(index, role)

    def _emit_changed(self) -> None:
        if self.parts:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.parts) - 1, DROPPED))


def _role(role: str) -> str:
    return tr(ROLES[Role(role)]) if role in ROLES else tr("Prompt")


class PassageTable(RowTable):
    def __init__(self, rows: PassageRows, parent: QWidget) -> None:
        super().__init__(tr("Passages"), rows, parent, _Delegate)


class _Delegate(RowDelegate):
    rows: PassageRows

    def decorate(self, painter: QPainter, rect: QRect, index: Index, _text: str) -> QRect:
        """Passages stand a little to the right of their message."""
        row, column = index.row(), index.column()
        if column == READ and row < len(self.rows.shares):
            paint_bar(painter, rect, self.rows.shares[row], current().accent)
        change = self.rows.changes.get(self.rows.parts[row].tokens)
        if column == DROPPED and change is not None and change < 0:
            least = min(self.rows.changes.values())
            paint_bar(painter, rect, change / least, current().warning)
        is_inner = column == PASSAGE and self.rows.parts[row].message is not None
        return rect.adjusted(16 if is_inner else 0, 0, 0, 0)

    def is_muted(self, index: Index) -> bool:
        return index.column() == PASSAGE and self.rows.parts[index.row()].message is None
