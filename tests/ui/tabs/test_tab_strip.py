import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, TurnState
from app.look import marks
from app.protocol.report import SlotSnapshot, SlotState
from app.ui.base.proportions import LIST_WIDTH
from app.ui.tabs.tab import Tab
from app.ui.tabs.tab_bar import MAX_TAB, MIN_TAB, SQUEEZED_TAB, TabStrip, tab_tooltip
from tests.ui.fakes import FakeSession


@pytest.fixture
def strip(qtbot: QtBot) -> TabStrip:
    strip = TabStrip()
    qtbot.addWidget(strip)
    strip.resize(800, 40)
    for index, title in enumerate(("Sums", "R&D", "Notes")):
        strip.insert(index, title)
    strip.show()
    return strip


def tab_of(parent: QObject, title: str = "Sums") -> Tab:
    return Tab(FakeSession(Chat(title=title), parent), parent)  # type: ignore[arg-type]


def test_an_ampersand_in_a_title_is_an_ampersand(strip: TabStrip) -> None:
    assert strip.bar.tabText(1) == "R&&D"


def test_the_tooltip_tells_title_state_and_sequence_in_words() -> None:
    assert tab_tooltip("Sums", marks.COMPUTING, 2) == "Sums\n◌ computing · sequence 2 of the shared context"
    assert tab_tooltip("Sums", marks.IDLE, None, is_pinned=True) == "Sums\nidle · pinned"


def test_the_tooltip_cannot_become_html(strip: TabStrip) -> None:
    strip.apply(0, tab_of(strip, "<img src=file:///dev/zero>"), False, False)
    assert strip.bar.tabToolTip(0) == "&lt;img src=file:///dev/zero&gt;<br>idle"


def test_the_same_state_again_lays_out_nothing(strip: TabStrip, monkeypatch: pytest.MonkeyPatch) -> None:
    tab = tab_of(strip)
    tab.session.send("Count")
    strip.apply(0, tab, False, False)
    for name in ("setTabIcon", "setTabText", "setTabData"):
        monkeypatch.setattr(strip.bar, name, lambda *_: pytest.fail("it is there already"))
    strip.apply(0, tab, False, False)


def test_each_mark_and_sequence_looks_different(strip: TabStrip) -> None:
    images = []
    for seq_id in (None, 0, 1):
        tab = tab_of(strip)
        tab.slot = None if seq_id is None else SlotSnapshot(seq_id, SlotState.WARM, "", 0, 0, 0, 0)
        for change in (
            lambda tab: None,
            lambda tab: setattr(tab, "is_hibernated", True),
            lambda tab: setattr(tab, "is_unread", True),
            lambda tab: tab.session.send("Count"),
            lambda tab: tab.session.finish(TurnState.FAILED),
        ):
            change(tab)
            strip.apply(0, tab, False, False)
            images.append(strip.bar.tabIcon(0).pixmap(strip.bar.iconSize()).toImage())
    assert all(one != other for i, one in enumerate(images) for other in images[:i])


def test_what_the_program_does_itself_is_nobodys_wish(strip: TabStrip) -> None:
    strip.current_changed.connect(lambda _index: pytest.fail("nobody clicked"))
    strip.moved.connect(lambda _old, _new: pytest.fail("nobody dragged"))
    strip.set_current(2)
    strip.move_tab(2, 0)
    strip.remove(0)


def test_a_click_on_a_tab_is_told(strip: TabStrip, qtbot: QtBot) -> None:
    with qtbot.waitSignal(strip.current_changed) as told:
        qtbot.mouseClick(strip.bar, Qt.MouseButton.LeftButton, pos=strip.bar.tabRect(2).center())
    assert told.args == [2]


def test_long_titles_elide_and_short_ones_have_room_for_eight_letters(strip: TabStrip) -> None:
    assert strip.bar.elideMode() is Qt.TextElideMode.ElideRight
    strip.apply(0, tab_of(strip, "word " * 40), False, False)
    assert strip.bar.tabSizeHint(0).width() == MAX_TAB
    strip.apply(1, tab_of(strip, "R"), False, False)
    assert strip.bar.tabSizeHint(1).width() == MIN_TAB
    assert strip.bar.fontMetrics().horizontalAdvance("eightlet") <= MIN_TAB - 68


def test_a_pinned_tab_is_small_and_has_a_pin_while_it_has_nothing_else_to_tell(strip: TabStrip) -> None:
    tab = tab_of(strip)
    strip.apply(0, tab, True, False)
    assert strip.bar.tabRect(0).width() < MIN_TAB
    assert strip.bar.cross_rect(0).isEmpty()
    pin = strip.bar.tabIcon(0).pixmap(16, 16).toImage()
    tab.session.send("Count")
    strip.apply(0, tab, True, False)
    assert strip.bar.tabIcon(0).pixmap(16, 16).toImage() != pin


def test_tabs_put_in_before_it_is_shown_have_their_room(qtbot: QtBot) -> None:
    strip = TabStrip()
    qtbot.addWidget(strip)
    strip.resize(800, strip.sizeHint().height())  # measured while it was empty
    for number in range(3):
        strip.insert(number, f"Chat {number}")
    strip.bar.sizeHint()  # asking makes a QTabBar believe that its layout knows
    strip.show()
    assert strip.bar.width() >= 3 * MIN_TAB


def test_the_one_beside_is_underlined(strip: TabStrip) -> None:
    tab = tab_of(strip)
    strip.apply(1, tab, False, False)
    before = strip.bar.grab().toImage()
    strip.apply(1, tab, False, True)
    assert strip.bar.grab().toImage() != before


def test_ten_tabs_fit_beside_the_list_of_chats_at_1280(qtbot: QtBot) -> None:
    strip = TabStrip()
    qtbot.addWidget(strip)
    strip.resize(1280 - LIST_WIDTH, strip.sizeHint().height())
    for number in range(10):
        strip.insert(number, f"A chat with a title of many words {number}")
    strip.show()
    last = strip.bar.tabRect(9)
    assert strip.bar.rect().contains(last)
    assert last.width() >= SQUEEZED_TAB
    strip.bar.setCurrentIndex(3)
    assert [index for index in range(10) if strip.bar.cross_rect(index)] == [3]
    strip.resize(4000, strip.height())
    QApplication.processEvents()
    assert all(strip.bar.cross_rect(index) for index in range(10))


def test_a_mark_takes_room_only_while_it_is_there(strip: TabStrip) -> None:
    tab = tab_of(strip)
    strip.apply(0, tab, False, False)
    assert strip.bar.tabIcon(0).isNull()
    tab.session.send("Count")
    strip.apply(0, tab, False, False)
    assert not strip.bar.tabIcon(0).isNull()
