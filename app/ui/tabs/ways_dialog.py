"""Several answers at once: with the chat's settings, by other models, with presets, at other temperatures.

GUI thread.
"""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QLineEdit, QPushButton, QWidget

from app.bridge.chat_session import MAX_WAYS
from app.chats.options import ChatOptions
from app.chats.presets import Preset
from app.look.buttons import dialog_button
from app.look.figures import decimal
from app.look.fonts import small_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.words import locale, tr, tr_n
from app.ui.base.page_panel import scrolled
from app.ui.base.setting_controls import NumberField

WIDTH, MAX_LIST_HEIGHT = 460, 260
MAX_TEMPERATURE = 5.0
NUM_USUAL = 3

NO_MODELS: Mapping[str, str] = {}
Ways = list[tuple[ChatOptions | None, str]]


class WaysDialog(QDialog):
    """Not modal. Tells once what was chosen."""

    chosen = Signal(object)  # Ways

    def __init__(
        self,
        options: ChatOptions,
        presets: Mapping[str, Preset],
        parent: QWidget,
        models: Mapping[str, str] = NO_MODELS,
    ) -> None:
        """`options` are those of the chat. `models`: names of others, by their addresses."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Several answers"))
        self.setFixedWidth(WIDTH)
        self._options = options
        self._rows: list[tuple[NumberField, ChatOptions | None, str]] = []
        self._grid = QGridLayout()
        self._grid.setColumnStretch(0, 1)
        self.temperatures = QLineEdit(self)
        self.temperatures.setPlaceholderText(f"{decimal(0, 1)}  {decimal(0.7, 1)}  {decimal(1.2, 1)}")
        self.temperatures.setAccessibleName(tr("Other temperatures"))
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.note.setFont(small_font())
        self.ask = QPushButton(tr("Ask"), self)
        self.ask.setDefault(True)
        self.ask.clicked.connect(self._on_ask)
        self._add_row(tr("This chat's settings"), None, "")
        for address, name in models.items():
            self._add_row(one_line(name), replace(options, model=address), "")
        for preset in presets.values():
            self._add_row(one_line(preset.name), preset.applied_to(options), one_line(preset.name))
        self._rows[0][0].setValue(NUM_USUAL)
        self.temperatures.textChanged.connect(self._show)
        self._lay_out()
        self._show()

    @property
    def ways(self) -> Ways | None:
        """None: a temperature cannot be read."""
        temperatures = _numbers(self.temperatures.text())
        if temperatures is None:
            return None
        ways: Ways = [(options, name) for field, options, name in self._rows for _ in range(field.value())]
        for temperature in temperatures:
            sampling = dict(self._options.sampling) | {"temperature": temperature}
            name = tr("temperature {number}", number=f"{temperature:g}")
            ways.append((replace(self._options, sampling=sampling), name))
        return ways

    def _lay_out(self) -> None:
        list_ = QWidget(self)
        list_.setLayout(self._grid)
        self._grid.setContentsMargins(0, 0, 4, 0)
        rows = scrolled(list_, self)
        rows.setFixedHeight(min(MAX_LIST_HEIGHT, list_.sizeHint().height() + 4))
        label = PlainLabel(tr("One answer each at temperature"), self)
        foot = hbox(STRETCH, dialog_button(tr("Cancel"), self.reject, self), self.ask)
        vbox(
            heading(self.windowTitle(), self),
            rows,
            hbox(label, (self.temperatures, 1)),
            self.note,
            4,
            foot,
            on=self,
            margins=20,
            spacing=10,
        )

    def _add_row(self, label: str, options: ChatOptions | None, name: str) -> None:
        field = NumberField(label, 0, MAX_WAYS, 1, self)
        field.valueChanged.connect(self._show)
        row = len(self._rows)
        self._grid.addWidget(PlainLabel(label, self), row, 0)
        self._grid.addWidget(field, row, 1)
        self._rows.append((field, options, name))

    def _show(self) -> None:
        ways = self.ways
        self.ask.setEnabled(ways is not None and 0 < len(ways) <= MAX_WAYS)
        if ways is None:
            self.note.setText(
                tr("Temperatures are numbers from 0 to {most}.", most=decimal(MAX_TEMPERATURE, 0))
            )
        elif len(ways) > MAX_WAYS:
            self.note.setText(tr("At most {number} answers can be asked for at once.", number=MAX_WAYS))
        else:
            self.note.setText(tr_n("{n} answer", "{n} answers, computed together", len(ways)))

    def _on_ask(self) -> None:
        if ways := self.ways:
            self.chosen.emit(ways)
            self.accept()


def _numbers(text: str) -> list[float] | None:
    """Numbers with spaces between them, written as the user's language does or with a point."""
    numbers = []
    for word in text.replace(";", " ").split():
        number, is_number = locale().toDouble(word)
        if not is_number:
            try:
                number = float(word)
            except ValueError:
                return None
        if not 0 <= number <= MAX_TEMPERATURE:
            return None
        numbers.append(number)
    return numbers
