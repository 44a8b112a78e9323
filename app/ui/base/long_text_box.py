"""The control of a setting that is a text of any length; a very long one is edited in parts. GUI thread."""

from bisect import bisect_right
from functools import cached_property

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from app.look.buttons import IconButton
from app.look.fonts import small_font, tabular
from app.look.plain_text import PlainLabel
from app.look.words import locale, tr
from app.ui.base.setting import Setting

PART_BYTES = 6_000  # of UTF-8, which go with what a letter costs: laying out more takes longer than a frame
MAX_PART_LINES = 600
STEPPER = 28


def part_starts(text: str) -> list[int]:
    """Where the parts of a text begin: at the beginning of a line, if there is one not far before."""
    num_lines = text.count("\n") + 1
    most = min(PART_BYTES, max(MAX_PART_LINES, MAX_PART_LINES * len(text) // num_lines))
    starts = [0]
    while True:
        begin = starts[-1]
        size = max(
            1,
            len(text[begin : begin + most].encode("utf-8", "replace")[:PART_BYTES].decode("utf-8", "ignore")),
        )
        end = begin + size
        if end >= len(text):
            return starts
        line_end = text.rfind("\n", end - size // 2, end)
        starts.append(line_end + 1 if line_end >= 0 else end)


def is_one_part(line: str) -> bool:
    return len(line) <= PART_BYTES // 4 or len(line.encode("utf-8", "replace")) <= PART_BYTES


class Stepper(QWidget):
    """Which part it is, and the way to those beside it."""

    stepped = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.count = PlainLabel(parent=self, tone="muted")
        self.count.setFont(tabular(small_font()))
        self.previous = IconButton("chevron-left", tr("Previous part"), STEPPER - 2, self, icon_side=14)
        self.next = IconButton("chevron-right", tr("Next part"), STEPPER - 2, self, icon_side=14)
        self.previous.clicked.connect(lambda: self.stepped.emit(-1))
        self.next.clicked.connect(lambda: self.stepped.emit(1))

    def show_part(self, part: int, num_parts: int) -> None:
        self.count.setText(tr("Part {number} of {total}", number=part + 1, total=num_parts))
        self.previous.setEnabled(part > 0)
        self.next.setEnabled(part < num_parts - 1)

    def arrange(self, width: int) -> None:
        self.setFixedSize(width, STEPPER)
        self.next.move(width - self.next.width(), 0)
        self.previous.move(self.next.x() - self.previous.width(), 0)
        self.count.setGeometry(0, 0, self.previous.x() - 4, STEPPER)


HEIGHT = 96
MARGIN = 4  # where the letters begin
MAX_CHARS = 1_000_000
# What is shown as a whole. Qt lays out the lines in sight, each in one go.
MAX_WHOLE_CHARS = 100_000
MAX_WHOLE_LINES = 6_000
MOST_IN_SIGHT = 1_000  # more need a scroll bar


class LongTextBox(QPlainTextEdit):
    """Shows one part of a text that Qt cannot lay out at once; the others stay as they are.

    Who replaces all that is shown means the others, too, and can undo it.
    """

    value_chosen = Signal(object)
    is_wide = True

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self._value = ""
        self._begin = 0  # of what is shown
        self._num_after = 0
        self._num_units = 0  # as Qt counts the letters that are shown
        self._is_all_new = False  # what is shown, since the last change
        self._earlier: str | None = None  # what Undo brings back when Qt has nothing to undo
        self.setFixedHeight(HEIGHT)
        self.setTabChangesFocus(True)
        self.setPlaceholderText(tr(setting.word))
        self.document().contentsChange.connect(self._on_contents_change)
        self.textChanged.connect(self._on_text_changed)

    @cached_property
    def stepper(self) -> Stepper:
        """Made when it is first needed: most texts have one part."""
        stepper = Stepper(self)
        stepper.stepped.connect(self._step)
        return stepper

    @property
    def has_parts(self) -> bool:
        return bool(self._begin or self._num_after)

    @property
    def value(self) -> str:
        return self._value

    def show_value(self, value: str) -> None:
        if value != self._value:
            self._earlier = None
            self._show(value, 0)

    def _show(self, value: str, place: int) -> None:
        """The part with this place, to which the cursor goes."""
        starts = [0] if _is_shown_whole(value) else part_starts(value)
        part = bisect_right(starts, place) - 1
        end = [*starts, len(value)][part + 1]
        self._value, self._begin, self._num_after = value, starts[part], len(value) - end
        shown = value[self._begin : end]
        self.blockSignals(True)
        self.clear()  # what was there must not be laid out for a new width
        self._show_stepper(part, len(starts))
        self._show_bar(len(shown))
        self.setPlainText(shown)
        self.blockSignals(False)
        self._is_all_new = False
        cursor = self.textCursor()
        cursor.setPosition(_num_units(value[self._begin : place]))
        self.setTextCursor(cursor)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes plain text, never formatting."""
        text = source.text().replace("\r\n", "\n").replace("\r", "\n")
        if len(self._value) + len(text) > MAX_CHARS:
            told = tr("Not pasted: longer than {number} characters.", number=locale().toString(MAX_CHARS))
            QToolTip.showText(self.mapToGlobal(QPoint(0, self.height())), told, self)
            return
        cursor = self.textCursor()
        left = self._shown(0, cursor.selectionStart())
        right = self._shown(cursor.selectionEnd(), self._num_units)
        shown = left + text + right
        if _is_shown_whole(shown):
            self._show_bar(len(shown))
            self.insertPlainText(text)
            self.ensureCursorVisible()
            return
        if left or right:
            left, right = self._value[: self._begin] + left, right + self._value_after
        self._replace(left + text + right, len(left + text))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        has_nothing = not self.document().isUndoAvailable()
        if self._earlier is not None and has_nothing and event.matches(QKeySequence.StandardKey.Undo):
            self._replace(self._earlier, 0)
            self._earlier = None
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if "stepper" in self.__dict__:
            room = self.viewport().geometry()
            self.stepper.arrange(room.width() - MARGIN)
            self.stepper.move(room.left() + MARGIN, room.bottom() + 1)

    # Changes

    def _replace(self, value: str, place: int) -> None:
        """Qt cannot undo this."""
        self._earlier = self._value
        self._show(value, place)
        self.value_chosen.emit(value)

    def _on_contents_change(self, at: int, num_removed: int, _num_added: int) -> None:
        self._is_all_new = at == 0 and num_removed >= self._num_units > 0
        self._num_units = self.document().characterCount() - 1

    def _on_text_changed(self) -> None:
        shown = self._shown(0, self._num_units)
        if self._is_all_new and self.has_parts:
            self._earlier = self._value
            self._begin = self._num_after = 0
            self.document().clearUndoRedoStacks()
            self._show_stepper(0, 1)
            self._value = shown
        else:
            self._value = self._value[: self._begin] + shown + self._value_after
        self._show_bar(self._num_units)
        self.value_chosen.emit(self._value)

    def _shown(self, begin: int, end: int) -> str:
        """What is shown, between two of Qt's places."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2029", "\n")

    @property
    def _value_after(self) -> str:
        """What comes after the part that is shown."""
        return self._value[len(self._value) - self._num_after :]

    def _show_bar(self, num_chars: int) -> None:
        """Before they are laid out: else Qt does that without its scroll bar first, and again with it."""
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAlwaysOn if num_chars > MOST_IN_SIGHT else policy.ScrollBarAsNeeded
        )

    # Parts

    def _step(self, step: int) -> None:
        """To the one that begins where this one ends, or that ends where this one begins."""
        end = len(self._value) - self._num_after
        self._earlier = None
        self._show(self._value, end if step > 0 else self._begin - 1)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _show_stepper(self, part: int, num_parts: int) -> None:
        has_parts = num_parts > 1
        if has_parts:
            self.stepper.show_part(part, num_parts)
        if "stepper" in self.__dict__:
            self.stepper.setVisible(has_parts)
            self.setViewportMargins(0, 0, 0, STEPPER if has_parts else 0)


def _is_shown_whole(text: str) -> bool:
    if len(text) > MAX_WHOLE_CHARS or text.count("\n") > MAX_WHOLE_LINES:
        return False
    return all(map(is_one_part, text.split("\n")))


def _num_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
