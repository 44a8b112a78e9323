"""Controls, and which one a setting has by its field: switch, number, choice, text, folder. GUI thread."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QValidator
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QDoubleSpinBox,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from app.look.buttons import PlainButton
from app.look.file_dialog import choose_folder
from app.look.fonts import tabular
from app.look.icons import paint_icon
from app.look.painted import paint_rounded
from app.look.plain_text import as_tooltip, short_path
from app.look.popups import FlatCombo
from app.look.tokens import current
from app.look.words import locale, tr
from app.ui.base.choice_list import ChoiceList
from app.ui.base.long_text_box import LongTextBox
from app.ui.base.setting import Field, Setting

MAX_INT = 2**31 - 1
COMBO_WIDTH = 220
WIDTH, HEIGHT = 150, 28
ARROW = 12
INSET = 6


class Control(Protocol):
    """A widget. `value_chosen` carries the user's choice, which applies at once."""

    value_chosen: Any
    is_wide: bool  # stands below the words, not beside them

    def show_value(self, value: Any) -> None: ...


def control_for(setting: Setting, field: Field, parent: QWidget) -> QWidget:
    """The widget for this setting, which is also a Control."""
    control = _made(setting, field, parent)
    control.setAccessibleName(tr(setting.label))
    control.setAccessibleDescription(tr(setting.sentence))
    if not isinstance(control, ChoiceControl):
        control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        control.installEventFilter(Calm(control))
    return control


def _made(setting: Setting, field: Field, parent: QWidget) -> QWidget:
    if setting.choices:
        return ChoiceControl(setting, parent)
    if setting.named:
        return NamedControl(setting.named, parent)
    if field.kind is bool or setting.on:
        return Switch(parent, on=setting.on or True, off=field.kind())
    if field.kind is int and setting.word_for_zero:
        return TwoWordedNumber(setting, field, parent)
    if field.kind is int:
        return WholeNumber(setting, field, parent)
    if field.kind is float:
        return DecimalNumber(setting, field, parent)
    if setting.folder:
        return FolderControl(setting.folder, tr(setting.label), parent)
    assert field.kind is str, f"there is no control for {setting.name}"
    return LongTextBox(setting, parent) if setting.is_long else ShortText(setting, parent)


class Switch(QCheckBox):
    """A knob that is at the right, and in colour, when it is on."""

    value_chosen = Signal(object)
    is_wide = False
    SIZE = QSize(38, 22)

    def __init__(self, parent: QWidget, on: int = True, off: int = False) -> None:
        super().__init__(parent)
        self.setFixedSize(self.SIZE)
        self.clicked.connect(lambda is_on: self.value_chosen.emit(on if is_on else off))

    def show_value(self, value: int) -> None:
        self.setChecked(bool(value))

    def hitButton(self, place: QPoint) -> bool:
        return self.rect().contains(place)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_switch(QPainter(self), is_on=self.isChecked(), has_focus=self.hasFocus())


def paint_switch(painter: QPainter, *, is_on: bool, has_focus: bool = False) -> None:
    """At the painter's origin, as large as a Switch."""
    tokens, size = current(), QRect(QPoint(), Switch.SIZE)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    edge = tokens.text if has_focus else tokens.accent if is_on else tokens.muted
    paint_rounded(painter, size, 10, 1, fill=tokens.accent if is_on else tokens.window, edge=edge, width=1.5)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(tokens.on_accent if is_on else tokens.muted))
    painter.drawEllipse(QPointF(27 if is_on else 11, 11), 6, 6)


class ChoiceControl(ChoiceList):
    value_chosen = Signal(object)
    is_wide = True

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(tr(setting.label), setting.choices, parent=parent)
        self.chosen.connect(lambda value: self.value_chosen.emit(value))

    def show_value(self, value: str) -> None:
        self.choose(value)


class NamedControl(FlatCombo):
    """One of many. A value that is not among them is shown as it is, a file by its name."""

    value_chosen = Signal(object)
    is_wide = False

    def __init__(self, named: Callable[[], Mapping[Any, str]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(COMBO_WIDTH, HEIGHT)
        self._named: Mapping[Any, str] = {}
        self.offer(named())
        self.activated.connect(lambda index: self.value_chosen.emit(self.itemData(index)))

    def offer(self, named: Mapping[Any, str]) -> None:
        if named == self._named:
            return
        chosen, self._named = self.currentData(), named
        self.clear()
        for value, name in named.items():
            self.addItem(name, value)
        self.show_value(chosen)

    def show_value(self, value: Any) -> None:
        values = [self.itemData(index) for index in range(self.count())]
        if value not in values:
            values.append(value)
            self.addItem(value.stem if isinstance(value, Path) else str(value), value)
        self.setCurrentIndex(values.index(value))
        self.setToolTip(as_tooltip(str(value)) if isinstance(value, Path) else "")


class NumberField(QSpinBox):
    """An integer with grouped thousands, and a word for zero."""

    def __init__(self, name: str, low: int, high: int, step: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(low, high)
        self.setSingleStep(step)
        dress_number(self)
        self.setGroupSeparatorShown(True)
        self.setAccessibleName(name)

    def set_word_for_zero(self, word: str) -> None:
        if self.specialValueText() != word:
            self.setSpecialValueText(word)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Typing at once replaces the content, be it a word."""
        super().focusInEvent(event)
        QTimer.singleShot(0, self.selectAll)  # after the click that brought the focus

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_arrows(self, self.stepEnabled())


class WholeNumber(NumberField):
    """Below its lowest value comes None, where allowed. A half-typed number is no choice yet."""

    value_chosen = Signal(object)
    is_wide = False

    def __init__(self, setting: Setting, field: Field, parent: QWidget) -> None:
        low = int(field.low) if field.low is not None else -MAX_INT
        high = int(field.high) if field.high is not None else MAX_INT
        self._none = low - 1 if field.is_optional else None
        lowest = low if self._none is None else self._none
        super().__init__(tr(setting.label), lowest, high, int(setting.step), parent)
        self.setGroupSeparatorShown(setting.is_grouped)
        self.setKeyboardTracking(False)
        if setting.word:
            self.set_word_for_zero(tr(setting.word))
        self.valueChanged.connect(lambda value: self.value_chosen.emit(self._meant(value)))

    def _meant(self, value: int) -> int | None:
        return None if value == self._none else value

    def show_value(self, value: int | None) -> None:
        show_number(self, value)


class TwoWordedNumber(NumberField):
    """Below its lowest value comes a word for zero, and below that one for None."""

    value_chosen = Signal(object)
    is_wide = False

    def __init__(self, setting: Setting, field: Field, parent: QWidget) -> None:
        assert field.low is not None
        assert field.high is not None
        self._low = int(field.low)
        self._zero, self._word_for_zero = self._low - 1, tr(setting.word_for_zero)
        none = self._low - 2
        super().__init__(tr(setting.label), none, int(field.high), int(setting.step), parent)
        self.setKeyboardTracking(False)
        self.setSpecialValueText(tr(setting.word))
        self.valueChanged.connect(lambda value: self.value_chosen.emit(self._meant(value)))

    def _meant(self, value: int) -> int | None:
        if value >= self._low:
            return value
        return 0 if value == self._zero else None

    def show_value(self, value: int | None) -> None:
        show_number(self, self._zero if value == 0 else value)

    def textFromValue(self, value: int) -> str:
        return self._word_for_zero if value == self._zero else super().textFromValue(value)

    def valueFromText(self, text: str) -> int:
        return self._zero if text == self._word_for_zero else super().valueFromText(text)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        if text == self._word_for_zero:
            return QValidator.State.Acceptable, text, place
        return super().validate(text, place)

    def stepBy(self, steps: int) -> None:
        """Steps from word to word, to the lowest number, and on to the next multiple of the step."""
        value, step = self.value(), self.singleStep()
        if value < self._low:
            self.setValue(value + (1 if steps > 0 else -1))
        elif steps > 0:
            self.setValue(value - value % step + steps * step)
        elif value > self._low:
            self.setValue(max(-(-value // step) * step + steps * step, self._low))
        else:
            self.setValue(self._zero)


class DecimalNumber(QDoubleSpinBox):
    """The same with decimals, as many as are needed."""

    value_chosen = Signal(object)
    is_wide = False
    DECIMALS = 4

    def __init__(self, setting: Setting, field: Field, parent: QWidget) -> None:
        super().__init__(parent)
        low, high = field.low or 0.0, field.high if field.high is not None else 1e9
        self._low = low
        self.setDecimals(self.DECIMALS)
        self.setSingleStep(setting.step)
        self.setRange(low - setting.step if field.is_optional else low, high)
        self.setSpecialValueText(tr(setting.word))
        self.setKeyboardTracking(False)
        dress_number(self)
        self.valueChanged.connect(lambda value: self.value_chosen.emit(self._meant(value)))

    def _meant(self, value: float) -> float | None:
        """A value between None and the lowest one was reached by stepping down."""
        return round(value, self.DECIMALS) if value >= self._low else None

    def show_value(self, value: float | None) -> None:
        show_number(self, value)

    def textFromValue(self, value: float) -> str:
        return locale().toString(round(value, self.DECIMALS), "g", 6)

    def stepBy(self, steps: int) -> None:
        """Steps onto valid numbers, and from the word to the first of them."""
        was_none = self._meant(self.value()) is None
        super().stepBy(steps)
        if was_none and steps > 0:
            self.setValue(self._low)
        elif self._meant(self.value()) is None:
            self.setValue(self.minimum())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_arrows(self, self.stepEnabled())


class ShortText(QLineEdit):
    """Applies when it is entered."""

    value_chosen = Signal(object)
    is_wide = False

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedWidth(COMBO_WIDTH)
        self.setPlaceholderText(tr(setting.word))
        self._shown = ""
        self.editingFinished.connect(self._on_finished)

    def show_value(self, value: str) -> None:
        self._shown = value
        if value != self.text():
            self.setText(value)
            self.setCursorPosition(0)

    def _on_finished(self) -> None:
        """Enter was pressed, or the focus has left."""
        if (text := self.text().strip()) != self._shown:
            self.value_chosen.emit(text)


class FolderControl(PlainButton):
    """Shows the folder's name, and lets choose another one. `usual` is the one that None means."""

    value_chosen = Signal(object)
    is_wide = False

    def __init__(self, usual: Callable[[], Path], title: str, parent: QWidget) -> None:
        super().__init__("", parent)
        self._usual = usual
        self._title = title
        self._folder = Path()
        self.setFixedWidth(COMBO_WIDTH)
        self.clicked.connect(self._ask)

    def show_value(self, value: Path | None) -> None:
        self._folder = value or self._usual()
        room = COMBO_WIDTH - 28
        path = short_path(self._folder)
        shown = self.fontMetrics().elidedText(path, Qt.TextElideMode.ElideMiddle, room)
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(as_tooltip(str(self._folder)))
        self.setAccessibleDescription(path)

    def _ask(self) -> None:
        choose_folder(self.window(), self._title, self.value_chosen.emit, self._folder)


class Calm(QObject):
    """Ignores the wheel: scrolling the page must not change controls under the pointer."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def dress_number(box: QAbstractSpinBox) -> None:
    """Styles a number field."""
    box.setLocale(locale())
    box.setFixedSize(WIDTH, HEIGHT)
    box.setFont(tabular(box.font()))
    box.lineEdit().setTextMargins(INSET, 0, 0, 0)


def show_number(box: QSpinBox | QDoubleSpinBox, value: float | None) -> None:
    """None is its lowest value. Emits no signal, since the user did not choose it."""
    shown = box.minimum() if value is None else value
    if shown != box.value():  # else a half-typed number would be lost
        box.blockSignals(True)
        box.setValue(shown)  # type: ignore[arg-type]
        box.blockSignals(False)


def paint_arrows(box: QWidget, possible: QAbstractSpinBox.StepEnabledFlag) -> None:
    """A style sheet has arrows from files only, in one colour."""
    step = QAbstractSpinBox.StepEnabledFlag
    painter = QPainter(box)
    for flag, name, y in ((step.StepUpEnabled, "chevron-up", 3), (step.StepDownEnabled, "chevron-down", 14)):
        colour = current().muted if flag in possible else current().hairline
        paint_icon(painter, name, QRectF(box.width() - INSET - ARROW, y, ARROW, ARROW), colour)
