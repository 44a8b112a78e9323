"""One sampling setting of a chat: its control, explanation, and the source of its value. GUI thread."""

from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QToolButton, QWidget

from app.bridge.parameters import Source
from app.chats.sampling_json import BadSamplingError, from_json, to_json
from app.look.fonts import small_font, tabular
from app.look.icons import icon
from app.look.plain_text import PlainLabel
from app.look.words import sentences, tr, tr_said
from app.ui.base.number_field import HEIGHT, WIDTH
from app.ui.base.setting_controls import control_for
from app.ui.base.setting_kinds import Setting
from app.ui.settings.sampling_words import field_of, is_written, origin, otherwise, read, shown, written

RESET, SPACE = 24, 4


class SamplingRow(QWidget):
    chosen = Signal(str, object)  # name, value
    reset = Signal(str)  # name

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = setting.name
        self._setting = setting
        self._holds_bad_text = False  # invalid text stays in the field to be corrected
        self.control = _control(setting, self)
        self.control.value_chosen.connect(self._on_chosen)  # type: ignore[attr-defined]
        self.button = QToolButton(self)
        self.button.setFixedSize(RESET, RESET)
        self.button.setIcon(icon("rotate-ccw"))
        self.button.setAccessibleName(tr("Reset"))
        self.button.clicked.connect(lambda: self.reset.emit(self.name))
        keep = self.button.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.button.setSizePolicy(keep)
        self._note = PlainLabel(parent=self, tone="muted", wraps=True)
        self._error = PlainLabel(parent=self, tone="danger", wraps=True)
        for label in (self._note, self._error):
            label.setFont(small_font())
        self._error.hide()
        self._lay_out()

    @property
    def note(self) -> str:
        return self._note.text()

    @property
    def error(self) -> str:
        return self._error.text()

    def apply(
        self, own: Any, is_own: bool, inherited: tuple[Any, Source], model: str, remark: str = ""
    ) -> None:
        """The effective value and its source. `remark` says why it has no effect now."""
        value, source = inherited
        if not self._holds_bad_text:
            self.control.show_value(own if is_own else value)  # type: ignore[attr-defined]
            self.show_error("")
        told = otherwise(shown(self.name, value), source, model) if is_own else origin(source, model)
        self._note.setText(sentences(tr(self._setting.sentence), told, remark))
        self.button.setVisible(is_own)
        tip = tr("Back to {value}", value=shown(self.name, value))
        self.button.setToolTip(tip)
        self.button.setAccessibleName(tip)

    def show_error(self, text: str) -> None:
        self._error.setText(text)
        self._error.setVisible(bool(text))

    def _on_chosen(self, value: Any) -> None:
        """Emits only values that SamplingParams accepts. Others stay in the field, with the reason."""
        meant, problem = read(self.name, value) if isinstance(value, str) else (value, "")
        if not problem:
            try:
                meant = from_json(to_json({self.name: meant}))[self.name]
            except BadSamplingError as error:
                problem = tr("Not used: {reason}", reason=tr_said(error.reason))
        self.show_error(problem)
        self._holds_bad_text = bool(problem)
        if not problem:
            self.chosen.emit(self.name, meant)

    def forget_bad_text(self) -> None:
        """The panel was closed: discards invalid text."""
        self._holds_bad_text = False

    def _lay_out(self) -> None:
        label = PlainLabel(tr(self._setting.label), self)
        label.setBuddy(self.control)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        grid.addWidget(label, 0, 0)
        grid.addWidget(self.button, 0, 1)
        grid.addWidget(self.control, 0, 2, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self._note, 2, 0, 1, 3)
        grid.addWidget(self._error, 3, 0, 1, 3)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.button.setIcon(icon("rotate-ccw"))


class _Line(QLineEdit):
    """A typed value: applies when the field is left or Enter is pressed."""

    value_chosen = Signal(object)

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = setting.name
        self._shown = ""
        self.setFixedSize(WIDTH, HEIGHT)
        self.setFont(tabular(self.font()))
        self.setPlaceholderText(tr(setting.word))
        self.setAccessibleName(tr(setting.label))
        self.setAccessibleDescription(tr(setting.sentence))
        self.editingFinished.connect(self._on_finished)

    def show_value(self, value: Any) -> None:
        self._shown = written(self._name, value)
        self.setText(self._shown)
        self.setCursorPosition(0)

    def _on_finished(self) -> None:
        if self.text() != self._shown:
            self._shown = self.text()
            self.value_chosen.emit(self.text())


def _control(setting: Setting, parent: QWidget) -> QWidget:
    """Also a Control."""
    if is_written(setting.name):
        return _Line(setting, parent)
    return control_for(setting, field_of(setting.name), parent)
