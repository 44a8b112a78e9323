import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.base.setting_controls import NumberField


@pytest.fixture
def field(qtbot: QtBot) -> NumberField:
    field = NumberField("Context pool", 0, 2**24, 1024)
    field.set_word_for_zero("Automatic (8,192)")
    qtbot.addWidget(field)
    field.show()
    return field


def test_thousands_stand_apart_and_zero_is_a_word(field: NumberField) -> None:
    assert field.text() == "Automatic (8,192)"
    field.setValue(16_384)
    assert field.text() == "16,384"


def test_what_is_typed_takes_the_place_of_the_word(field: NumberField, qtbot: QtBot) -> None:
    field.activateWindow()
    field.setFocus()
    qtbot.waitUntil(lambda: field.lineEdit().hasSelectedText())
    qtbot.keyClicks(QApplication.focusWidget(), "4096")
    assert field.value() == 4096


@pytest.mark.parametrize("typed", ["4,096", "4096"])
def test_a_number_may_be_typed_with_or_without_its_comma(
    field: NumberField, qtbot: QtBot, typed: str
) -> None:
    field.selectAll()
    qtbot.keyClicks(field, typed)
    assert field.value() == 4096
