from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.look.strip import Offer
from app.ui.base.notices import Notices, UndoToast, closed_text, engine_error_text, load_error_text
from tests.fakes import model_info


@pytest.fixture
def notices(qtbot: QtBot) -> Notices:
    notices = Notices()
    qtbot.addWidget(notices)
    notices.show()
    return notices


def test_a_failed_load_says_what_failed_why_and_what_stays() -> None:
    text = load_error_text(Path("/m/notes.gguf"), "It is not a GGUF file.", model_info(name="starter"))
    assert text == "notes.gguf could not be opened: It is not a GGUF file. starter stays loaded."
    assert load_error_text(Path("a.gguf"), "Why.", None) == "a.gguf could not be opened: Why."
    assert load_error_text(Path("a.gguf"), "a.gguf is empty.", None) == "a.gguf is empty."


def test_texts_from_outside_lose_their_escapes() -> None:
    assert engine_error_text("code\x1b[2J -3.\n") == "The engine stopped: code[2J -3. Your chats are kept."
    assert closed_text("Two\nlines") == "Closed “Two lines”."


def test_an_error_stays_until_it_is_dismissed(notices: Notices, qtbot: QtBot) -> None:
    notices.show_error("<img src=file:///dev/zero> failed")
    (banner,) = notices.banners()
    assert all(
        label.textFormat() is Qt.TextFormat.PlainText for label in banner.findChildren(QLabel) if label.text()
    )
    banner.findChildren(QToolButton)[0].click()
    assert notices.banners() == []


def test_the_same_error_is_said_once(notices: Notices) -> None:
    notices.show_error("The disk is full.")
    notices.show_error("The disk is full.")
    assert len(notices.banners()) == 1


def test_many_errors_leave_the_chat_its_room_and_none_is_lost(notices: Notices) -> None:
    notices.show_error("The engine stopped.", Offer("Reload model", lambda: None))
    for number in range(5):
        notices.show_error(f"File {number} is damaged.")
    assert [banner.text for banner in notices.banners() if banner.isVisible()] == [
        "The engine stopped.",
        "File 3 is damaged.",
        "File 4 is damaged.",
    ]
    assert notices.earlier.text == "3 earlier messages"
    notices.withdraw("File 3 is damaged.")
    assert [banner.text for banner in notices.banners() if banner.isHidden()] == [
        "File 0 is damaged.",
        "File 1 is damaged.",
    ]
    notices.withdraw("File 4 is damaged.")
    assert notices.earlier.text == "1 earlier message"
    notices.withdraw("File 2 is damaged.")
    assert notices.earlier.isHidden()
    assert all(banner.isVisible() for banner in notices.banners())


def test_all_errors_are_dismissed_at_once_and_the_keyboard_goes_on(notices: Notices, qtbot: QtBot) -> None:
    for number in range(5):
        notices.show_error(f"File {number} is damaged.")
    notices.activateWindow()
    notices.earlier.buttons[0].setFocus()
    qtbot.waitUntil(notices.earlier.buttons[0].hasFocus)
    with qtbot.waitSignal(notices.left):
        notices.earlier.buttons[0].click()
    assert notices.banners() == []
    assert notices.earlier.isHidden()


def test_taking_the_action_of_a_banner_dismisses_it(notices: Notices) -> None:
    taken: list[bool] = []
    notices.show_error("The engine stopped.", Offer("Reload model", lambda: taken.append(True)))
    notices.banners()[0].findChildren(QPushButton)[0].click()
    assert taken == [True]
    assert notices.banners() == []


def test_a_load_shows_its_name_and_share_unless_it_has_ended_at_once(notices: Notices, qtbot: QtBot) -> None:
    notices.show_load(Path("/m/model.gguf"))
    notices.progress.clear()
    assert not notices.progress.findChild(QTimer).isActive()
    notices.show_load(Path("/m/model.gguf"))
    notices.set_load_fraction(0.42)
    assert notices.progress.isHidden()
    qtbot.waitUntil(notices.progress.isVisible)
    assert notices.progress.text == "Loading model.gguf  42%"


def test_an_undo_is_offered_and_goes_by_itself(qtbot: QtBot) -> None:
    ground = QWidget()
    qtbot.addWidget(ground)
    ground.show()
    toast = UndoToast(ground)
    toast._life.setInterval(20)
    toast.offer("Closed “Sums”.", lambda: None)
    assert toast.isVisible()
    assert not toast.isModal()
    qtbot.waitUntil(lambda: not toast.isVisible())


def test_undo_is_possible_after_the_offer_has_gone_but_not_once_it_is_withdrawn(qtbot: QtBot) -> None:
    ground = QWidget()
    qtbot.addWidget(ground)
    ground.show()
    undone: list[bool] = []
    toast = UndoToast(ground)
    toast.offer("Deleted “Sums”.", lambda: undone.append(True))
    toast.hide()
    toast.undo()
    toast.undo()
    assert undone == [True]
    toast.offer("Closed “Sums”.", lambda: undone.append(False))
    toast.withdraw("Closed “Sums”.")
    toast.undo()
    assert undone == [True]


def test_undo_is_done_once(qtbot: QtBot) -> None:
    ground = QWidget()
    qtbot.addWidget(ground)
    ground.show()
    undone: list[bool] = []
    toast = UndoToast(ground)
    toast.offer("Closed “Sums”.", lambda: undone.append(True))
    toast.button.click()
    assert undone == [True]
    assert not toast.isVisible()
