"""One option: name, explanation, control, what to know about its value, and the way back. GUI thread.

Whoever shows it says what its value is and means, and judges what was chosen.
"""

import html
from collections.abc import Iterable, Sequence
from typing import Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.look.buttons import IconButton
from app.look.fonts import small_font
from app.look.layouts import vbox
from app.look.plain_text import PlainLabel, heading
from app.look.strip import paint_lines_between
from app.look.tokens import current
from app.look.words import tr
from app.ui.base.fuzzy import fold
from app.ui.base.setting import Field, Setting
from app.ui.base.setting_controls import Control, control_for

RESET_SIDE = 28


class Row(QWidget):
    """A row of a page that the search can find."""

    def __init__(self, title: str, sentence: str, parent: QWidget, *, is_plain: bool = False) -> None:
        super().__init__(parent)
        self._title, self._sentence = title, sentence
        make_title = PlainLabel if is_plain else heading
        self.title = make_title(title, self, wraps=True)
        self.sentence = PlainLabel(sentence, self, tone="muted", wraps=True)
        self.title.setVisible(bool(title))
        self.sentence.setVisible(bool(sentence))

    @property
    def searched_text(self) -> str:
        return f"{self._title} {self._sentence}"

    def search(self, words: Sequence[str]) -> bool:
        """Highlights the words if it has all of them, else hides itself."""
        text = fold(self.searched_text)
        is_found = all(word in text for word in words)
        self.setVisible(is_found)
        for label, words_of in ((self.title, self._title), (self.sentence, self._sentence)):
            _show_marked(label, words_of, words if is_found else ())
        return is_found


class OptionRow(Row):
    """A compact one has its sentence among its notes, below the control, and no room around it."""

    chosen = Signal(str, object)  # its name, a value
    reset_requested = Signal(str)

    def __init__(self, setting: Setting, field: Field, parent: QWidget, *, is_compact: bool = False) -> None:
        sentence = "" if is_compact else tr(setting.sentence)
        super().__init__(tr(setting.label), sentence, parent, is_plain=is_compact)
        self.setting = setting
        self.widget = control_for(setting, field, self)
        self.control = cast(Control, self.widget)
        self.control.value_chosen.connect(lambda value: self.chosen.emit(setting.name, value))
        self.title.setBuddy(self.widget)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.problem = PlainLabel(parent=self, tone="danger", wraps=True)
        for label in (self.note, self.problem):
            label.setFont(small_font())
            label.hide()
        label_text = tr("Back to the default: {setting}", setting=tr(setting.label))
        self.reset = IconButton("rotate-ccw", label_text, RESET_SIDE, self, icon_side=14)
        keeps_room = self.reset.sizePolicy()
        keeps_room.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(keeps_room)
        self.reset.clicked.connect(self._on_reset)
        self._lay_out(is_compact)

    @property
    def searched_text(self) -> str:
        choices = " ".join(tr(choice.label) for choice in self.setting.choices)
        return f"{super().searched_text} {choices} {self.setting.name}"

    def apply(self, value: Any, note: str, *, is_own: bool) -> None:
        """`is_own`: chosen, so that there is a way back."""
        self.control.show_value(value)
        self.reset.setVisible(is_own)
        self.note.say(note)

    def show_problem(self, text: str) -> None:
        """It stays until the next one, or an empty one."""
        self.problem.say(text)

    def _on_reset(self) -> None:
        self.widget.setFocus()  # the button goes
        self.reset_requested.emit(self.setting.name)

    def _lay_out(self, is_compact: bool) -> None:
        notes = (self.sentence, self.note, self.problem)
        grid = QGridLayout(self)
        grid.setColumnStretch(0, 1)
        top = Qt.AlignmentFlag.AlignTop
        if is_compact:
            grid.setContentsMargins(0, 0, 0, 0)
            grid.setSpacing(2)
            grid.addWidget(self.title, 0, 0)
            grid.addLayout(vbox(*notes, spacing=2), 1, 0, 1, 3)
        else:
            grid.setContentsMargins(0, 10, 0, 10)
            grid.setHorizontalSpacing(12)
            grid.setVerticalSpacing(8)
            grid.addLayout(vbox(self.title, *notes, spacing=2), 0, 0)
        if self.control.is_wide:
            grid.addWidget(self.reset, 0, 2, top)
            grid.addWidget(self.widget, 1, 0, 1, 3)
        else:
            grid.addWidget(self.reset, 0, 1, top)
            grid.addWidget(self.widget, 0, 2, top | Qt.AlignmentFlag.AlignRight)


class Section(QWidget):
    """A title, and rows with lines between them."""

    def __init__(
        self, title: str, rows: Iterable[QWidget], parent: QWidget, *, points: int = 3, gap: int = 4
    ) -> None:
        """The title is larger by so many points, with this gap below it."""
        super().__init__(parent)
        self.rows: list[QWidget] = []
        head = heading(title, self, points=points)
        head.setContentsMargins(0, 0, 0, gap)
        self.column = vbox(head, on=self, spacing=0)
        for row in rows:
            self.add(row)

    def add(self, row: QWidget) -> None:
        self.rows.append(row)
        self.column.addWidget(row)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_lines_between(self.rows, self)


def _show_marked(label: QLabel, text: str, words: Sequence[str]) -> None:
    if words:
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setText(marked(text, words))
    else:
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setText(text)


def marked(text: str, words: Sequence[str]) -> str:
    """The text as HTML, with the places of the words on a ground of their own."""
    folded, places = fold(text), set[int]()
    for word in words:
        at = folded.find(word)
        while at >= 0:
            places.update(range(at, at + len(word)))
            at = folded.find(word, at + 1)
    ground, ink = current().accent, current().on_accent
    return "".join(
        f"<span style='background:{ground};color:{ink}'>{html.escape(letter)}</span>"
        if at in places
        else html.escape(letter)
        for at, letter in enumerate(text)
    )
