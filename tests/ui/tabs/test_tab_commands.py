"""What the menus and the bar do to the tabs."""

from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.look import marks
from app.ui.base.titles import TitleEdit
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.tab_commands import TabCommands
from tests.ui.fakes import FakeWorkspace
from tests.ui.tabs.conftest import sessions, shown, texts


class TestMoving:
    def test_keys_move_the_current_tab_and_stop_at_the_ends(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        commands.on_current(partial(commands.move, -1))
        commands.on_current(partial(commands.move, 1))
        assert (sessions(workspace), texts(tabs)) == ("BAC", ["B", "A", "C"])
        commands.on_current(partial(commands.move, 5))
        assert (sessions(workspace), texts(tabs)) == ("BCA", ["B", "C", "A"])
        assert tabs.strip.bar.currentIndex() == 2


class TestPinning:
    def test_a_pinned_tab_stands_at_the_left_and_is_small(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        tabs.show_index(1)
        commands.on_current(commands.toggle_pin)
        assert (sessions(workspace), texts(tabs)) == ("BAC", ["B", "A", "C"])
        assert tabs.strip.bar.tabSizeHint(0).width() < tabs.strip.bar.tabSizeHint(1).width()
        commands.on_current(commands.toggle_pin)
        assert tabs.strip.bar.tabSizeHint(0).width() == tabs.strip.bar.tabSizeHint(1).width()

    def test_it_is_not_closed_by_accident(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot, commands: TabCommands, said: list[str]
    ) -> None:
        commands.on_current(commands.toggle_pin)
        commands.on_current(commands.close)
        assert "Unpin this one" in said[0]
        qtbot.mouseClick(tabs.strip.bar, Qt.MouseButton.MiddleButton, pos=QPoint(10, 10))
        commands.close_others(tabs.tabs[1])
        assert sessions(workspace) == "AB"

    def test_its_own_menu_closes_it(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        commands.on_current(commands.toggle_pin)
        menu = menu_of(tabs, 0)
        choose(menu, "Close chat")
        menu.close()
        assert sessions(workspace) == "BC"


class TestClosing:
    def test_others(self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands) -> None:
        commands.close_others(tabs.tabs[1])
        assert sessions(workspace) == shown(tabs) == "B"

    def test_all_to_the_right(self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands) -> None:
        commands.close_right_of(tabs.tabs[0])
        assert sessions(workspace) == "A"

    def test_the_menu_offers_only_what_can_be_done(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        commands.on_current(commands.toggle_pin)
        assert enabled(tabs, 2) == {"Close others": True, "Close to the right": False}
        commands.close_right_of(tabs.tabs[0])
        assert enabled(tabs, 0) == {"Close others": False, "Close to the right": False}

    def test_the_menu_of_a_tab_goes_with_it(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        """Others may close it meanwhile."""
        menu = menu_of(tabs, 0)
        workspace.close(workspace.sessions[0])
        assert not menu.isVisible()


class TestRenaming:
    def test_the_title_typed_over_a_tab_is_the_chats(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot, commands: TabCommands
    ) -> None:
        tabs.strip.bar.rename_requested.emit(1)
        edit = tabs.strip.bar.findChild(TitleEdit)
        assert edit
        edit.insert("Sums")
        workspace.move(workspace.sessions[1], 2)  # meanwhile, something moves it
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        assert [session.chat.title for session in workspace.sessions] == ["A", "C", "Sums"]

    def test_the_keyboard_goes_back_to_the_message(
        self, tabs: ChatTabs, qtbot: QtBot, commands: TabCommands
    ) -> None:
        tabs.window().activateWindow()
        commands.on_current(commands.rename)
        edit = tabs.strip.bar.findChild(TitleEdit)
        assert edit
        qtbot.keyClick(edit, Qt.Key.Key_Escape)
        view = tabs.current
        assert view
        qtbot.waitUntil(view.composer.editor.hasFocus)


class TestSplitView:
    def test_two_chats_stand_side_by_side_each_with_its_composer(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        commands.toggle_split()
        assert shown(tabs) == "AB"
        left, right = tabs.shown_views
        assert left.isVisible()
        assert right.isVisible()
        assert left.mapTo(tabs, QPoint()).x() < right.mapTo(tabs, QPoint()).x()
        assert abs(left.width() - right.width()) < 5
        assert tabs.current is right
        commands.toggle_split()
        assert shown(tabs) == "B"
        assert not left.isVisible()

    def test_the_key_switches_sides_and_splits_if_there_is_one_side(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        for current in "BAB":
            commands.show_other_side()
            assert workspace.current
            assert (shown(tabs), workspace.current.chat.title) == ("AB", current)

    def test_the_side_the_keyboard_is_in_is_the_current_one(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot, commands: TabCommands
    ) -> None:
        tabs.window().activateWindow()
        commands.toggle_split()
        left, right = tabs.shown_views
        qtbot.waitUntil(right.composer.editor.hasFocus)
        left.composer.editor.setFocus()
        assert workspace.current is left.session
        assert tabs.strip.bar.currentIndex() == 0

    def test_the_keyboard_stays_with_the_chat_that_stays(
        self, tabs: ChatTabs, qtbot: QtBot, commands: TabCommands
    ) -> None:
        tabs.window().activateWindow()
        commands.toggle_split()
        right = tabs.shown_views[1]
        qtbot.waitUntil(right.composer.editor.hasFocus)
        commands.toggle_split()
        assert tabs.shown_views == (right,)
        assert right.composer.editor.hasFocus()

    def test_a_tab_chosen_replaces_only_the_current_side(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        commands.toggle_split()
        tabs.show_index(2)
        assert shown(tabs) == "AC"
        tabs.show_index(0)
        assert shown(tabs) == "AC"

    def test_closing_the_side_with_the_keyboard_in_it_leaves_it_to_the_other(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot, commands: TabCommands
    ) -> None:
        tabs.window().activateWindow()
        commands.toggle_split()
        left, right = tabs.shown_views
        left.composer.editor.setFocus()
        qtbot.waitUntil(left.composer.editor.hasFocus)
        with qtbot.captureExceptions() as exceptions:
            commands.on_current(commands.close)
        assert exceptions == []
        assert shown(tabs) == "B"
        assert right.composer.editor.hasFocus()

    def test_the_side_that_goes_to_the_right_keeps_the_keyboard_and_stays_the_current_one(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot, commands: TabCommands
    ) -> None:
        tabs.window().activateWindow()
        commands.toggle_split()
        left, _right = tabs.shown_views
        left.composer.editor.setFocus()
        qtbot.waitUntil(left.composer.editor.hasFocus)
        workspace.show_beside(left.session)
        assert shown(tabs) == "BA"
        assert workspace.current is left.session
        assert tabs.strip.bar.currentIndex() == 0
        assert left.composer.editor.hasFocus()

    def test_a_tab_dropped_on_the_right_half_is_shown_there(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        right = tabs.pages.mapToGlobal(QPoint(tabs.pages.width() - 50, 100))
        left = tabs.pages.mapToGlobal(QPoint(50, 100))
        tabs.strip.bar.dropped.emit(2, left)
        assert shown(tabs) == "A"
        tabs.strip.bar.pulled.emit(2, right)
        before = tabs.grab().toImage()
        tabs.strip.bar.dropped.emit(2, right)
        tabs.strip.bar.let_go.emit()
        assert shown(tabs) == "AC"
        assert tabs.grab().toImage() != before

    def test_an_answer_beside_does_not_become_unread(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        commands.toggle_split()
        left = workspace.sessions[0]
        left.send("Count")
        left.finish()
        assert tabs.tabs[0].mark is marks.IDLE

    def test_the_menu_shows_a_chat_beside(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        menu = menu_of(tabs, 2)
        choose(menu, "Show in split view")
        menu.close()
        assert shown(tabs) == "AC"


def menu_of(tabs: ChatTabs, index: int) -> QMenu:
    tabs.strip.bar.menu_requested.emit(index, QPoint(0, 0))
    return [menu for menu in tabs.findChildren(QMenu) if menu.isVisible()][-1]


def choose(menu: QMenu, text: str) -> None:
    next(action for action in menu.actions() if action.text().replace("&", "") == text).trigger()


def enabled(tabs: ChatTabs, index: int) -> dict[str, bool]:
    menu = menu_of(tabs, index)
    found = {action.text().replace("&", ""): action.isEnabled() for action in menu.actions()}
    menu.close()
    return {text: is_on for text, is_on in found.items() if text in ("Close others", "Close to the right")}
