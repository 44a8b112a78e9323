from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QRadioButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.engine.types import Overflow
from app.ui.chat_settings import ChatSettings, ChatSettingsButton


@pytest.fixture
def button(qtbot: QtBot) -> Iterator[ChatSettingsButton]:
    frame = QWidget()
    qtbot.addWidget(frame)
    button = ChatSettingsButton(frame)
    column = QVBoxLayout(frame)
    column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
    frame.resize(500, 400)
    button.apply(Overflow.STOP, 0, 8192)
    frame.show()
    yield button


@pytest.fixture
def popover(button: ChatSettingsButton, qtbot: QtBot) -> ChatSettings:
    button.click()
    qtbot.waitExposed(button.popover)
    return button.popover


def test_the_button_says_what_becomes_of_a_full_chat(button: ChatSettingsButton) -> None:
    assert button.text().strip() == "Stop when full"
    button.apply(Overflow.ROLLING_WINDOW, 0, 8192)
    assert button.text().strip() == "Rolling window"
    assert button.accessibleName() == "Chat settings: Rolling window"


def test_where_there_is_no_room_the_words_go_first(button: ChatSettingsButton) -> None:
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    button.resize(button.minimumSizeHint())
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
    button.resize(button.sizeHint())
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon


def test_it_opens_with_what_is_in_force_and_the_keyboard_in_it(popover: ChatSettings) -> None:
    assert popover.overflow.value == Overflow.STOP
    assert popover.max_tokens.text() == "As in settings"
    assert popover.limit_text == "Now 8,192 tokens."
    focused = QApplication.focusWidget()
    assert isinstance(focused, QRadioButton)
    assert focused.text() == "Stop"


def test_a_choice_counts_at_once(button: ChatSettingsButton, popover: ChatSettings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(button.changed) as changed:
        popover.overflow.findChildren(QRadioButton)[1].click()
    assert changed.args == [Overflow.ROLLING_WINDOW, 0]
    with qtbot.waitSignal(button.changed) as changed:
        popover.max_tokens.stepUp()
    assert changed.args == [Overflow.ROLLING_WINDOW, 256]


def test_a_number_half_typed_is_no_choice_but_counts_when_one_leaves(
    button: ChatSettingsButton, popover: ChatSettings, qtbot: QtBot
) -> None:
    with qtbot.assertNotEmitted(button.changed):
        popover.max_tokens.selectAll()
        qtbot.keyClicks(popover.max_tokens, "1024")
    with qtbot.waitSignal(button.changed) as changed:
        popover.close()
    assert changed.args == [Overflow.STOP, 1024]


def test_being_told_the_state_is_no_choice(button: ChatSettingsButton, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(button.changed):
        button.apply(Overflow.TRUNCATE_MIDDLE, 512, 512)


def test_without_a_model_no_number_is_made_up(button: ChatSettingsButton) -> None:
    button.apply(Overflow.STOP, 0, 0)
    assert button.popover.limit_text == ""


def test_escape_closes_it(popover: ChatSettings, qtbot: QtBot) -> None:
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not popover.isVisible()
