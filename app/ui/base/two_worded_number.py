"""A number with a word for none and another one for zero: "As for all", "Automatic". GUI thread."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QWidget

from app.look.words import tr
from app.ui.base.number_field import NumberField, show_number
from app.ui.base.setting_fields import Field
from app.ui.base.setting_list import Setting


class TwoWordedNumber(NumberField):
    """Below its lowest value comes zero, and below that None. A half-typed number is no choice yet."""

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
