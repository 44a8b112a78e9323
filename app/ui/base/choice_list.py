"""A few choices, each a radio button with a sentence that explains its effect. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QRadioButton, QWidget

from app.look.plain_text import PlainLabel
from app.look.words import tr
from app.ui.base.setting import Choice

LABEL_WIDTH = 154  # so that the sentences of several lists are aligned


class ChoiceList(QWidget):
    """The sentence stands beside the choice, or below it where there is little room.

    Choices that explain themselves stand in a row.
    """

    chosen = Signal(str)  # by the user

    def __init__(
        self, name: str, choices: Sequence[Choice], is_narrow: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._values = [choice.value for choice in choices]
        self._group = QButtonGroup(self)
        self._sentences: dict[str, PlainLabel] = {}
        self.setAccessibleName(name)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2 if is_narrow else 6)
        is_row = not any(choice.sentence for choice in choices)
        if is_row:
            grid.setColumnStretch(len(choices), 1)
        else:
            grid.setColumnMinimumWidth(0, 0 if is_narrow else LABEL_WIDTH)
            grid.setColumnStretch(1, 1)
        for index, choice in enumerate(choices):
            button = self._add(choice, index)
            sentence = self._sentences[choice.value]
            if is_row:
                grid.addWidget(button, 0, index)
                sentence.hide()
            elif is_narrow:
                sentence.setContentsMargins(25, 0, 0, 6)
                grid.addWidget(button, 2 * index, 0, 1, 2, Qt.AlignmentFlag.AlignLeft)
                grid.addWidget(sentence, 2 * index + 1, 0, 1, 2)
            else:
                grid.addWidget(button, index, 0)
                grid.addWidget(sentence, index, 1)
        self._group.idClicked.connect(self._on_clicked)

    @property
    def value(self) -> str:
        return self._values[self._group.checkedId()]

    def choose(self, value: str) -> None:
        button = self._group.button(self._values.index(value))
        button.setChecked(True)
        self.setFocusProxy(button)

    def _on_clicked(self, index: int) -> None:
        self.setFocusProxy(self._group.button(index))
        self.chosen.emit(self._values[index])

    def _add(self, choice: Choice, index: int) -> QRadioButton:
        button = QRadioButton(tr(choice.label), self)
        self._group.addButton(button, index)
        sentence = PlainLabel(parent=self, tone="muted", wraps=True)
        self._sentences[choice.value] = sentence
        self._say(choice)
        return button

    def _say(self, choice: Choice) -> None:
        sentence = tr(choice.sentence) if choice.sentence else ""
        self._sentences[choice.value].setText(sentence)
        self._group.button(self._values.index(choice.value)).setAccessibleDescription(sentence)
