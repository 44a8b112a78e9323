import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QTabBar
from pytestqt.qtbot import QtBot

from app.look import marks
from app.look.sequence_colours import colour_of
from app.ui.tab_strip import MIN_TAB, TabStrip, tab_tooltip


@pytest.fixture
def strip(qtbot: QtBot) -> TabStrip:
    strip = TabStrip()
    qtbot.addWidget(strip)
    strip.resize(800, 40)
    for index, title in enumerate(("Sums", "R&D", "Notes")):
        strip.insert(index, title)
    strip.show()
    return strip


def test_an_ampersand_in_a_title_is_an_ampersand(strip: TabStrip) -> None:
    assert strip.bar.tabText(1) == "R&&D"


def test_the_tooltip_tells_title_state_and_sequence_in_words() -> None:
    assert tab_tooltip("Sums", marks.COMPUTING, 2) == "Sums\n◌ computing · sequence 2"
    assert tab_tooltip("Sums", marks.IDLE, None) == "Sums\nidle"


def test_the_tooltip_cannot_become_html(strip: TabStrip) -> None:
    strip.set_mark(0, marks.FAILED, "<img src=file:///dev/zero>", None, None)
    assert strip.bar.tabToolTip(0) == "&lt;img src=file:///dev/zero&gt;<br>⚠ failed"


def test_the_same_mark_again_paints_nothing(strip: TabStrip, monkeypatch: pytest.MonkeyPatch) -> None:
    strip.set_mark(0, marks.COMPUTING, "Sums", 0, colour_of(0))
    monkeypatch.setattr(strip.bar, "setTabIcon", lambda *_: pytest.fail("it is there already"))
    strip.set_mark(0, marks.COMPUTING, "Sums", 0, colour_of(0))


def test_each_mark_and_colour_looks_different(strip: TabStrip) -> None:
    images = []
    for mark in (marks.IDLE, marks.COMPUTING, marks.UNREAD, marks.FAILED, marks.HIBERNATED):
        for colour in (None, colour_of(0), colour_of(1)):
            strip.set_mark(0, mark, "Sums", None, colour)
            images.append(strip.bar.tabIcon(0).pixmap(strip.bar.iconSize()).toImage())
    assert all(one != other for i, one in enumerate(images) for other in images[:i])


def test_a_close_button_closes_its_own_tab_also_after_a_move(strip: TabStrip, qtbot: QtBot) -> None:
    button = strip.bar.tabButton(0, QTabBar.ButtonPosition.RightSide)
    assert button
    assert button.accessibleName() == "Close tab"
    strip.bar.moveTab(0, 2)
    with qtbot.waitSignal(strip.close_requested) as closed:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert closed.args == [2]


def test_a_middle_click_closes_the_tab_under_it(strip: TabStrip, qtbot: QtBot) -> None:
    with qtbot.waitSignal(strip.close_requested) as closed:
        qtbot.mouseClick(strip.bar, Qt.MouseButton.MiddleButton, pos=strip.bar.tabRect(1).center())
    assert closed.args == [1]


def test_a_right_click_asks_for_the_menu_of_the_tab_under_it(strip: TabStrip, qtbot: QtBot) -> None:
    place = strip.bar.tabRect(1).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, strip.bar.mapToGlobal(place))
    with qtbot.waitSignal(strip.menu_requested) as asked:
        QApplication.sendEvent(strip.bar, event)
    assert asked.args == [1, strip.bar.mapToGlobal(place)]


def test_the_menu_key_asks_for_the_menu_of_the_current_tab(strip: TabStrip, qtbot: QtBot) -> None:
    strip.bar.setCurrentIndex(2)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    with qtbot.waitSignal(strip.menu_requested) as asked:
        QApplication.sendEvent(strip.bar, event)
    assert asked.args[0] == 2


def test_long_titles_elide_in_the_middle(strip: TabStrip) -> None:
    assert strip.bar.elideMode() is Qt.TextElideMode.ElideMiddle
    strip.set_title(0, "word " * 40)
    assert strip.bar.tabRect(0).width() <= 220


def test_tabs_put_in_before_it_is_shown_have_their_room(qtbot: QtBot) -> None:
    strip = TabStrip()
    qtbot.addWidget(strip)
    strip.resize(800, strip.sizeHint().height())  # measured while it was empty
    for number in range(3):
        strip.insert(number, f"Chat {number}")
    strip.bar.sizeHint()  # whoever asks makes a QTabBar believe that its layout knows
    strip.show()
    assert strip.bar.width() >= 3 * MIN_TAB
