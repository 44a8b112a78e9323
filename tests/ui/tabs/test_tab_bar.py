import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.ui.base.titles import TitleEdit
from app.ui.tabs.tab_bar import MAX_SPARE_WIDTHS, TabBar, _Face
from tests.conftest import QT_PATIENCE_MS

LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton


@pytest.fixture
def bar(qtbot: QtBot) -> TabBar:
    bar = TabBar(None)  # type: ignore[arg-type]
    qtbot.addWidget(bar)
    bar.resize(800, 40)
    for index, title in enumerate(("Sums", "Colours", "Notes")):
        bar.insert(index, title)
    bar.show()
    return bar


def test_the_cross_closes_its_own_tab_also_after_a_move(bar: TabBar, qtbot: QtBot) -> None:
    bar.moveTab(0, 2)
    with qtbot.waitSignal(bar.close_requested) as closed:
        qtbot.mouseClick(bar, LEFT, pos=bar.cross_rect(2).center())
    assert closed.args == [2]


def test_a_press_on_the_cross_that_ends_elsewhere_does_nothing(bar: TabBar, qtbot: QtBot) -> None:
    bar.close_requested.connect(lambda _index: pytest.fail("it was let go elsewhere"))
    qtbot.mousePress(bar, LEFT, pos=bar.cross_rect(2).center())
    qtbot.mouseRelease(bar, LEFT, pos=bar.tabRect(1).center())
    assert bar.currentIndex() == 0


def test_a_middle_click_closes_the_tab_under_it(bar: TabBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.close_requested) as closed:
        qtbot.mouseClick(bar, MIDDLE, pos=bar.tabRect(1).center())
    assert closed.args == [1]


def test_a_right_click_asks_for_the_menu_of_the_tab_under_it(bar: TabBar, qtbot: QtBot) -> None:
    place = bar.tabRect(1).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, bar.mapToGlobal(place))
    with qtbot.waitSignal(bar.menu_requested) as asked:
        QApplication.sendEvent(bar, event)
    assert asked.args == [1, bar.mapToGlobal(place)]


def test_the_menu_key_asks_for_the_menu_of_the_current_tab(bar: TabBar, qtbot: QtBot) -> None:
    bar.setCurrentIndex(2)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    with qtbot.waitSignal(bar.menu_requested) as asked:
        QApplication.sendEvent(bar, event)
    assert asked.args[0] == 2


@pytest.mark.parametrize("by_key", [True, False])
def test_a_double_click_or_f2_asks_to_rename(bar: TabBar, qtbot: QtBot, by_key: bool) -> None:
    bar.setCurrentIndex(1)
    with qtbot.waitSignal(bar.rename_requested) as asked:
        if by_key:
            qtbot.keyClick(bar, Qt.Key.Key_F2)
        else:
            qtbot.mouseDClick(bar, LEFT, pos=bar.tabRect(1).center())
    assert asked.args == [1]


class TestPreview:
    @pytest.fixture
    def bar(self, bar: TabBar) -> TabBar:
        bar.set_face(1, _Face("Colours", is_preview=True))
        return bar

    def test_its_title_alone_is_in_italics(self, bar: TabBar) -> None:
        before = bar.grab().toImage()
        bar.set_face(1, _Face("Colours"))
        after = bar.grab().toImage()
        assert before.copy(bar.tabRect(1)) != after.copy(bar.tabRect(1))
        for other in (0, 2):
            assert before.copy(bar.tabRect(other)) == after.copy(bar.tabRect(other))
        assert bar.tabText(1) == "Colours"

    def test_a_double_click_keeps_it_and_the_next_renames_it(self, bar: TabBar, qtbot: QtBot) -> None:
        bar.rename_requested.connect(lambda _index: pytest.fail("it is to be kept first"))
        with qtbot.waitSignal(bar.keep_requested) as asked:
            qtbot.mouseDClick(bar, LEFT, pos=bar.tabRect(1).center())
        assert asked.args == [1]
        bar.rename_requested.disconnect()
        bar.set_face(1, _Face("Colours"))
        with qtbot.waitSignal(bar.rename_requested):
            qtbot.mouseDClick(bar, LEFT, pos=bar.tabRect(1).center())

    def test_dragging_keeps_it_and_a_shaky_click_does_not(self, bar: TabBar, qtbot: QtBot) -> None:
        kept: list[int] = []
        bar.keep_requested.connect(kept.append)
        start = bar.tabRect(1).center()
        qtbot.mousePress(bar, LEFT, pos=start)
        drag(bar, start + QPoint(1, 1))
        assert kept == []
        drag(bar, start + QPoint(QApplication.startDragDistance(), 0))
        assert kept == [1]
        qtbot.mouseRelease(bar, LEFT, pos=start)


def test_a_tab_carried_below_the_bar_tells_where_it_is_and_where_it_is_dropped(
    bar: TabBar, qtbot: QtBot
) -> None:
    start, far = bar.tabRect(1).center(), QPoint(600, 300)
    qtbot.mousePress(bar, LEFT, pos=start)
    with qtbot.waitSignal(bar.pulled) as pulled:
        drag(bar, far)
    assert pulled.args == [1, bar.mapToGlobal(far)]
    with qtbot.waitSignal(bar.let_go), qtbot.waitSignal(bar.dropped) as dropped:
        qtbot.mouseRelease(bar, LEFT, pos=far)
    assert dropped.args == [1, bar.mapToGlobal(far)]


def test_a_tab_moved_within_the_bar_is_not_dropped(bar: TabBar, qtbot: QtBot) -> None:
    bar.dropped.connect(lambda _index, _place: pytest.fail("it never left"))
    qtbot.mousePress(bar, LEFT, pos=bar.tabRect(0).center())
    drag(bar, bar.tabRect(1).center())
    qtbot.mouseRelease(bar, LEFT, pos=bar.tabRect(1).center())


class TestTitleEdit:
    def test_enter_keeps_what_was_typed(self, bar: TabBar, qtbot: QtBot) -> None:
        edit = bar.edit_title(0)
        assert edit.text() == "Sums"
        with qtbot.waitSignal(edit.committed) as kept:
            edit.insert(" More \u202esums ")
            qtbot.keyClick(edit, Qt.Key.Key_Return)
        assert kept.args == ["More sums"]

    @pytest.mark.parametrize("typed", ["", "  "])
    def test_a_title_cannot_be_blank(self, bar: TabBar, qtbot: QtBot, typed: str) -> None:
        edit = watched(bar)
        edit.clear()
        qtbot.keyClicks(edit, typed)
        qtbot.keyClick(edit, Qt.Key.Key_Return)

    def test_escape_leaves_it(self, bar: TabBar, qtbot: QtBot) -> None:
        edit = watched(bar)
        qtbot.keyClicks(edit, "Other")
        qtbot.keyClick(edit, Qt.Key.Key_Escape)
        assert edit.isHidden()

    def test_one_left_for_another_window_is_kept_and_ends_with_the_next(
        self, bar: TabBar, qtbot: QtBot
    ) -> None:
        edit = bar.edit_title(0)
        edit.insert("More sums")
        other = QWidget()
        qtbot.addWidget(other)
        other.show()
        with qtbot.waitActive(other, timeout=QT_PATIENCE_MS):
            other.activateWindow()
        assert not edit.isHidden()
        with qtbot.waitSignal(edit.committed):
            bar.edit_title(1)
        assert edit.isHidden()

    def test_nothing_typed_is_no_title(self, bar: TabBar, qtbot: QtBot) -> None:
        qtbot.keyClick(watched(bar), Qt.Key.Key_Return)


def watched(bar: TabBar) -> TitleEdit:
    edit = bar.edit_title(0)
    edit.committed.connect(lambda _title: pytest.fail("nothing was to be kept"))
    return edit


def drag(bar: TabBar, place: QPoint) -> None:
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(bar.mapToGlobal(place)),
        Qt.MouseButton.NoButton,
        LEFT,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(bar, event)


def test_widths_of_closed_tabs_are_not_kept_for_long(bar: TabBar) -> None:
    for number in range(2 * MAX_SPARE_WIDTHS):
        bar.insert(0, f"Chat {number}")
        bar.tabSizeHint(0)
        bar.removeTab(0)
    assert len(bar._widths) <= 2 * bar.count() + MAX_SPARE_WIDTHS
