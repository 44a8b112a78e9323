import sys
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.look import marks
from app.storage.list_rows import ChatSummary
from app.storage.search import FOUND_END, FOUND_START, SearchHit
from app.ui.chats.search_popup import Known, SearchPopup

Key = Qt.Key
NOW = time.time()
CHATS = tuple(
    ChatSummary(str(number), title, "", False, NOW, NOW - number, 1)
    for number, title in enumerate(("KV cache", "Cache lines", "Sums"))
)
HITS = (
    SearchHit("2", "turn", "Sums", f"the {FOUND_START}cache{FOUND_END} of sums", NOW),
    SearchHit("1", "other", "Cache lines", f"{FOUND_START}cache{FOUND_END}s", NOW),
)


@pytest.fixture
def ground(qtbot: QtBot) -> QWidget:
    ground = QWidget()
    qtbot.addWidget(ground)
    ground.resize(900, 600)
    field = QLineEdit(ground)
    ground.show()
    qtbot.waitExposed(ground)
    ground.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    return ground


@pytest.fixture
def popup(ground: QWidget) -> Iterator[SearchPopup]:
    popup = SearchPopup(ground)
    QAbstractItemModelTester(popup.model, popup)
    popup.open(Known(CHATS, {"2": marks.IDLE}))
    yield popup
    popup.hide()


def shown(popup: SearchPopup) -> list[str]:
    return [str(popup.model.index(row).data()) for row in range(popup.model.rowCount())]


def type_words(popup: SearchPopup, qtbot: QtBot, words: str) -> None:
    popup.field.clear()
    qtbot.keyClicks(popup.field, words)


def test_titles_are_found_with_every_letter_and_messages_follow(popup: SearchPopup, qtbot: QtBot) -> None:
    typed: list[str] = []
    popup.typed.connect(typed.append)
    type_words(popup, qtbot, "cache")
    assert typed[-2:] == ["cach", "cache"]
    assert shown(popup) == ["Chats", "Cache lines", "KV cache"]
    popup.show_hits("cache", HITS)
    assert shown(popup)[3:] == ["Messages", "Sums", "Cache lines"]


def test_messages_found_for_other_words_are_dropped(popup: SearchPopup, qtbot: QtBot) -> None:
    type_words(popup, qtbot, "cache")
    popup.show_hits("cach", HITS)
    assert "Messages" not in shown(popup)
    popup.show_hits("cache", HITS)
    qtbot.keyClicks(popup.field, "s")
    assert "Messages" not in shown(popup)


def test_a_closed_one_holds_no_chats(popup: SearchPopup) -> None:
    chat = ChatSummary("3", "Memory", "", False, NOW, NOW, 1)
    num_references = sys.getrefcount(chat)
    popup.open(Known((chat,), {}))
    popup.show_hits("", HITS)
    popup.close_up()
    assert sys.getrefcount(chat) == num_references
    assert shown(popup) == []


def test_what_had_the_focus_may_be_gone_when_it_closes(ground: QWidget, popup: SearchPopup) -> None:
    popup.close_up()
    [field] = [one for one in ground.children() if type(one) is QLineEdit]
    assert field.hasFocus()
    popup.open(Known(CHATS, {}))
    delete(field)
    popup.close_up()
    assert not popup.isVisible()


def test_enter_opens_the_best_title(popup: SearchPopup, qtbot: QtBot) -> None:
    type_words(popup, qtbot, "cache")
    with qtbot.waitSignal(popup.chosen) as chosen:
        qtbot.keyClick(popup.field, Key.Key_Return)
    assert chosen.args == ["1", "", ""]
    assert popup.isHidden()


def test_arrows_pass_over_headings_to_a_message_and_stop_at_the_ends(
    popup: SearchPopup, qtbot: QtBot
) -> None:
    type_words(popup, qtbot, "cache")
    popup.show_hits("cache", HITS)
    for _ in range(2):
        qtbot.keyClick(popup.field, Key.Key_Down)
    with qtbot.waitSignal(popup.chosen) as chosen:
        qtbot.keyClick(popup.field, Key.Key_Return)
    assert chosen.args == ["2", "turn", "cache"]

    popup.open(Known(CHATS, {}))
    for key in (Key.Key_PageDown, Key.Key_PageDown, Key.Key_Up, Key.Key_PageUp, Key.Key_PageUp):
        qtbot.keyClick(popup.field, key)
    assert popup.list.currentIndex().data() == "Cache lines"


def test_what_is_chosen_stays_when_messages_arrive(popup: SearchPopup, qtbot: QtBot) -> None:
    type_words(popup, qtbot, "cache")
    qtbot.keyClick(popup.field, Key.Key_Down)
    popup.show_hits("cache", HITS)
    assert popup.list.currentIndex().data() == "KV cache"


def test_ctrl_enter_opens_beside(popup: SearchPopup, qtbot: QtBot) -> None:
    type_words(popup, qtbot, "sums")
    with qtbot.waitSignal(popup.beside_chosen) as chosen:
        qtbot.keyClick(popup.field, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert chosen.args == ["2"]


def test_a_click_opens_too(popup: SearchPopup, qtbot: QtBot) -> None:
    type_words(popup, qtbot, "sums")
    place = popup.list.visualRect(popup.model.index(1)).center()
    with qtbot.waitSignal(popup.chosen) as chosen:
        qtbot.mouseClick(popup.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args[0] == "2"


def test_escape_closes_it_and_the_keyboard_is_where_it_was(
    popup: SearchPopup, ground: QWidget, qtbot: QtBot
) -> None:
    qtbot.keyClick(popup.field, Key.Key_Escape)
    assert popup.isHidden()
    assert ground.findChild(QLineEdit).hasFocus()


def test_a_click_elsewhere_closes_it(popup: SearchPopup, ground: QWidget, qtbot: QtBot) -> None:
    ground.findChild(QLineEdit).setFocus()
    assert popup.isHidden()


def test_the_last_words_can_be_gone_on_from(popup: SearchPopup, ground: QWidget, qtbot: QtBot) -> None:
    type_words(popup, qtbot, "sums")
    qtbot.keyClick(popup.field, Key.Key_Escape)
    popup.open(Known(CHATS, {}))
    assert popup.field.selectedText() == "sums"
    assert shown(popup) == ["Chats", "Sums"]


def test_it_says_what_it_does(popup: SearchPopup, qtbot: QtBot) -> None:
    assert popup._state.text() == "Enter opens, Ctrl+Enter opens in split view, Esc closes."
    type_words(popup, qtbot, "nowhere")
    assert popup._state.text() == "Searching all messages…"
    popup.show_hits("nowhere", ())
    assert popup._state.text() == "No title or message contains these words."


@pytest.mark.parametrize("size", [(900, 600), (560, 400)])
def test_it_fits_into_the_window(
    popup: SearchPopup, ground: QWidget, qtbot: QtBot, size: tuple[int, int]
) -> None:
    ground.resize(*size)
    type_words(popup, qtbot, "c")
    popup.show_hits("c", HITS * 50)
    assert ground.rect().contains(popup.geometry())
