"""One setting on its page: name, explanation, control, and the way back to the default. GUI thread."""

import html
from collections.abc import Sequence
from typing import Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from app.look.buttons import IconButton
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, heading, short_path
from app.look.tokens import current
from app.look.words import locale, sentences, tr
from app.ui.base.fuzzy import fold
from app.ui.base.menu_commands import plain
from app.ui.base.setting_controls import Control, control_for
from app.ui.base.setting_fields import Field, field_of
from app.ui.base.setting_kinds import Setting

RESET_SIDE = 28


class Row(QWidget):
    """A row of a page that the search can find."""

    def __init__(self, title: str, sentence: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._title, self._sentence = title, sentence
        self.title = heading(title, self, wraps=True)
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


class SettingRow(Row):
    chosen = Signal(str, object)  # the name of the setting, its new value
    reset_requested = Signal(str)

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(tr(setting.label), tr(setting.sentence), parent)
        self.setting = setting
        self._field = field_of(setting.name)
        self.widget = control_for(setting, self._field, self)
        self.control = cast(Control, self.widget)
        self.control.value_chosen.connect(lambda value: self.chosen.emit(setting.name, value))
        self.title.setBuddy(self.widget)
        self.detail = PlainLabel(parent=self, tone="muted", wraps=True)
        self.problem = PlainLabel(parent=self, tone="danger")
        self.problem.hide()
        label = tr("Back to the default: {setting}", setting=tr(setting.label))
        self.reset = IconButton("rotate-ccw", label, RESET_SIDE, self, icon_side=14)
        keeps_room = self.reset.sizePolicy()
        keeps_room.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(keeps_room)
        self.reset.clicked.connect(self._on_reset)
        self._lay_out()

    @property
    def searched_text(self) -> str:
        choices = " ".join(tr(choice.label) for choice in self.setting.choices)
        return f"{super().searched_text} {choices} {self.setting.name}"

    def apply(self, value: Any, note: str) -> None:
        self.control.show_value(value)
        is_changed = value != self._field.default
        self.reset.setVisible(is_changed)
        default = default_text(self.setting, self._field) if is_changed else ""
        self.detail.setText(sentences(*(part for part in (default, note) if part)))
        self.detail.setVisible(bool(self.detail.text()))
        self.problem.hide()

    def show_problem(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.show()

    def _on_reset(self) -> None:
        self.widget.setFocus()  # the button goes
        self.reset_requested.emit(self.setting.name)

    def _lay_out(self) -> None:
        words = vbox(self.title, self.sentence, self.detail, self.problem, spacing=2)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 10, 0, 10)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        top = Qt.AlignmentFlag.AlignTop
        grid.addLayout(words, 0, 0)
        if self.control.is_wide:
            grid.addWidget(self.reset, 0, 2, top)
            grid.addWidget(self.widget, 1, 0, 1, 3)
        else:
            grid.addWidget(self.reset, 0, 1, top)
            grid.addWidget(self.widget, 0, 2, top | Qt.AlignmentFlag.AlignRight)


class RemarkRow(Row):
    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__("", tr(text), parent)
        vbox(self.sentence, on=self, margins=(0, 6, 0, 10))


class ActionRow(Row):
    """A command of the menus, to be found among the settings, too."""

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__(plain(action.text()), tr("{words}.", words=action.statusTip()), parent)
        self.button = QPushButton(tr("Open"), self)
        self.button.setAutoDefault(False)
        self.button.setAccessibleName(plain(action.text()))
        self.button.clicked.connect(action.trigger)
        hbox(
            (vbox(self.title, self.sentence, spacing=2), 1),
            (self.button, 0, Qt.AlignmentFlag.AlignVCenter),
            on=self,
            margins=(0, 10, 0, 10),
            spacing=12,
        )


def default_text(setting: Setting, field: Field) -> str:
    return tr("Default: {value}.", value=_in_words(setting, field))


def _in_words(setting: Setting, field: Field) -> str:
    value = field.default
    if choice := next((choice for choice in setting.choices if choice.value == value), None):
        return tr(choice.label)
    if setting.named:
        return setting.named()[value]
    if setting.folder:
        return short_path(setting.folder())
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if not value and setting.word:
        return tr(setting.word).lower()
    if isinstance(value, int) and setting.is_grouped:
        return locale().toString(value)
    return str(value)


def _show_marked(label: QLabel, text: str, words: Sequence[str]) -> None:
    if words:
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setText(marked(text, words))
    else:
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setText(text)


def marked(text: str, words: Sequence[str]) -> str:
    """As HTML, with the places of the words on a ground of their own."""
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
