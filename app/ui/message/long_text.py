"""Shows a text exactly as written, a very long one in pages. GUI thread."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QPushButton, QWidget

from app.look.fonts import small_font
from app.look.icons import icon
from app.look.plain_text import PlainLabel, as_tab_text
from app.look.words import tr
from app.ui.base.hidden_characters import mark_hidden
from app.ui.base.long_text_box import STEPPER, Stepper, part_starts
from app.ui.message.folding import fold, unfold
from app.ui.message.passages import CopiedPassage, PassageKind
from app.ui.message.safe_browser import SafeBrowser
from app.ui.message.text_part import TextPart

MIN_LETTER = 2  # pixels


class LongText(QWidget):
    height_changed = Signal()
    file_clicked = Signal(int, QWidget)  # its index, and where

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = ""
        self._starts = [0]
        self.part = 0  # from 0
        self._shown = ""
        self.files: list[QPushButton] = []
        self._note = PlainLabel(parent=self, tone="muted", wraps=True)
        self._note.setFont(small_font())
        self._text = SafeBrowser(self)
        self._text.setAccessibleName(tr("You"))

    @cached_property
    def stepper(self) -> Stepper:
        """Made when it is first needed: most texts have one part."""
        stepper = Stepper(self)
        stepper.hide()
        stepper.stepped.connect(self._step)
        return stepper

    @property
    def num_parts(self) -> int:
        return len(self._starts)

    def show_text(self, text: str, file_names: Sequence[str] = (), note: str = "") -> None:
        """`note`: what is to be said above it."""
        part = self.part if self.text and text.startswith(self.text) else 0
        self.text = text
        self._starts = part_starts(text)
        self._note.setText(note)
        for button in self.files:
            button.deleteLater()
        self.files = [self._file_button(number, name) for number, name in enumerate(file_names)]
        self._show_part(part)

    def text_parts(self) -> list[TextPart]:
        return [
            TextPart((part,), self._text if part == self.part else None, partial(self._copied, part))
            for part in range(self.num_parts)
        ]

    def _copied(self, part: int, begin: int, end: int) -> list[CopiedPassage]:
        return [
            CopiedPassage(PassageKind.TEXT, text=unfold(fold(mark_hidden(self._text_of(part)))[begin:end]))
        ]

    def show_match(self, query: str, number: int) -> None:
        """Shows the part in which that occurrence begins, counted from 0 whatever the case of its letters."""
        if self.num_parts == 1:
            return
        source, wanted, at = self.text.lower(), query.lower(), -1
        for _ in range(number + 1):
            at = source.find(wanted, at + 1)
        if at >= 0:
            self._go_to(bisect_right(self._starts, at) - 1)

    def set_reading_font(self, font: QFont) -> None:
        self._text.set_reading_font(font)

    def arrange(self, widest: int) -> int:
        """Lays it out in this width, and returns the height."""
        has_parts, has_note = self.num_parts > 1, bool(self._note.text())
        width = widest if has_parts or self._is_wide(widest) else min(widest, self._ideal_width())
        y = 0
        if has_note:
            self._note.setGeometry(0, 0, width, self._note.heightForWidth(width))
            y = self._note.height() + 6
        for button in self.files:
            button.setGeometry(0, y, min(width, button.sizeHint().width()), button.sizeHint().height())
            button.show()
            y += button.height() + 4
        self._text.move(0, y)
        if self.text:
            y += self._text.arrange(width)
        if has_parts:
            self.stepper.arrange(width)
            self.stepper.move(0, y)
            y += STEPPER
        self._note.setVisible(has_note)
        self._text.setVisible(bool(self.text))
        if "stepper" in self.__dict__:
            self.stepper.setVisible(has_parts)
        self.setFixedSize(width, y)
        return y

    def _file_button(self, number: int, name: str) -> QPushButton:
        """In the order of reading: before the text."""
        button = QPushButton(as_tab_text(name), self)
        button.setProperty("kind", "chip")
        button.setIcon(icon("file-text"))
        button.setFont(small_font())
        button.setAccessibleName(tr("File: {name}", name=name))
        button.clicked.connect(lambda _checked=False: self.file_clicked.emit(number, button))
        self._text.raise_()
        return button

    def _is_wide(self, width: int) -> bool:
        """Surely wider than that. Else all lines are laid out to see how wide they are, then once more."""
        return max(map(len, self.text.split("\n"))) * MIN_LETTER > width

    def _ideal_width(self) -> int:
        return max(self._text.ideal_width(), self._width_of_head())

    def _width_of_head(self) -> int:
        lines = self._note.text().splitlines()
        widths = [self._note.fontMetrics().horizontalAdvance(line) + 4 for line in lines]
        return max([*widths, *(button.sizeHint().width() for button in self.files)], default=0)

    def _step(self, step: int) -> None:
        self._go_to(self.part + step)

    def _go_to(self, part: int) -> None:
        if part != self.part and 0 <= part < self.num_parts:
            self._show_part(part)
            self.height_changed.emit()

    def _text_of(self, part: int) -> str:
        ends = [*self._starts[1:], len(self.text)]
        return self.text[self._starts[part] : ends[part]]

    def _show_part(self, part: int) -> None:
        self.part = part
        shown = self._text_of(part)
        if shown != self._shown:
            self._shown = shown
            self._text.show_plain(shown)
        if self.num_parts > 1:
            self.stepper.show_part(part, self.num_parts)
