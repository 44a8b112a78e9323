"""A chat in a window of its own: torn off, used there, and moved back."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.ui.engine.model_picker import ModelPicker
from app.ui.main_window import MainWindow
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.chat_window import ChatWindow
from app.ui.tabs.tab_commands import TabCommands
from tests.ui.fakes import FakeWorkspace
from tests.ui.tabs.conftest import sessions, shown

CTRL = Qt.KeyboardModifier.ControlModifier


def out(tabs: ChatTabs) -> ChatWindow:
    (window,) = tabs.windows.values()
    return window


def seen(tabs: ChatTabs) -> str:
    bar = tabs.strip.bar
    return "".join(bar.tabText(index) for index in range(bar.count()) if bar.isTabVisible(index))


class TestTabs:
    def test_it_leaves_the_bar_and_comes_back_where_it_stood(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.move_out(workspace.sessions[1])
        window = out(tabs)
        assert (seen(tabs), shown(tabs), sessions(workspace)) == ("AC", "AB", "ABC")
        assert (window.isVisible(), window.windowTitle()) == (True, "B — Skein")
        assert window.windowHandle().transientParent() is None, "it can lie behind the main window"
        window.close()
        assert (seen(tabs), shown(tabs), tabs.windows) == ("ABC", "B", {})
        qtbot.waitUntil(lambda: not isValid(window))

    def test_a_hidden_tab_does_not_squeeze_the_others(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.move_out(workspace.sessions[0])
        QApplication.processEvents()
        assert not tabs.strip.bar.is_squeezed

    def test_a_draft_goes_with_it(self, tabs: ChatTabs, workspace: FakeWorkspace) -> None:
        assert tabs.current
        tabs.current.composer.editor.setPlainText("half a thought")
        workspace.move_out(workspace.sessions[0])
        view = tabs.tabs[0].view
        assert view
        assert view.window() is out(tabs)
        assert view.composer.editor.toPlainText() == "half a thought"

    def test_one_that_is_closed_takes_its_window_along(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.move_out(workspace.sessions[1])
        window = out(tabs)
        workspace.close(workspace.sessions[1])
        assert (seen(tabs), tabs.windows) == ("AC", {})
        qtbot.waitUntil(lambda: not isValid(window))

    def test_the_next_tab_and_those_with_a_number_are_those_in_the_bar(
        self, tabs: ChatTabs, workspace: FakeWorkspace, commands: TabCommands
    ) -> None:
        workspace.move_out(workspace.sessions[1])
        commands.on_current(lambda tab: commands.show_next(1, tab))
        assert workspace.current is workspace.sessions[2]
        commands.show_number(1)
        assert workspace.current is workspace.sessions[0]
        commands.close_others(tabs.tabs[0])
        assert sessions(workspace) == "AB"

    def test_a_tab_that_is_dropped_beside_the_window_gets_one(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        outside = tabs.window().frameGeometry().bottomRight() + QPoint(40, 40)
        tabs.strip.bar.dropped.emit(1, outside)
        assert sessions(workspace) == "ABC"
        assert workspace.is_out(workspace.sessions[1])
        assert out(tabs).screen().availableGeometry().contains(out(tabs).pos())

    def test_an_answer_that_ends_there_is_not_unread(self, tabs: ChatTabs, workspace: FakeWorkspace) -> None:
        b = workspace.sessions[1]
        workspace.move_out(b)
        b.send("Count")
        b.finish()
        assert not tabs.tabs[1].is_unread

    def test_it_goes_with_the_main_window(self, tabs: ChatTabs, workspace: FakeWorkspace) -> None:
        workspace.move_out(workspace.sessions[1])
        tabs.hide()
        assert not out(tabs).isVisible()


class TestWindow:
    @pytest.fixture
    def torn_off(self, window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot) -> ChatWindow:
        """Of a chat with messages, in front of the main window."""
        session = workspace.open(Chat(turns=[Turn(Role.USER, "Hi"), Turn(Role.ASSISTANT, "Hello.")]), 0)
        window.frame.activateWindow()
        qtbot.waitUntil(window.frame.isActiveWindow)
        window.tab_commands.toggle_window()
        assert workspace.is_out(session)
        torn_off = out(window.tabs)
        qtbot.waitUntil(torn_off.isActiveWindow)
        return torn_off

    def test_commands_act_on_its_chat(
        self, window: MainWindow, torn_off: ChatWindow, workspace: FakeWorkspace
    ) -> None:
        session = workspace.sessions[0]
        assert window.tabs.current
        assert window.tabs.current.session is session
        session.send("Count")
        QTest.keyClick(torn_off, Qt.Key.Key_Escape)
        assert not session.is_busy
        QTest.keyClick(torn_off, Qt.Key.Key_F, CTRL)
        assert window.tabs.current.find_bar.isVisible()

    def test_its_model_is_chosen_in_it_by_the_key_that_the_main_window_has(
        self, window: MainWindow, torn_off: ChatWindow, qtbot: QtBot
    ) -> None:
        window.preferences.set("shortcuts", {"model.switch": ["Ctrl+Alt+J"]})
        window.frame.activateWindow()
        qtbot.waitUntil(window.frame.isActiveWindow)
        torn_off.activateWindow()
        qtbot.waitUntil(torn_off.isActiveWindow)
        QTest.keyClick(torn_off, Qt.Key.Key_J, CTRL | Qt.KeyboardModifier.AltModifier)
        (picker,) = torn_off.findChildren(ModelPicker)
        assert (picker.menu.isVisible(), window.picker.menu.isVisible()) == (True, False)
        picker.menu.close()

    def test_a_fork_of_it_is_shown_in_the_main_window(
        self, window: MainWindow, torn_off: ChatWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        workspace.fork(workspace.sessions[0])
        qtbot.waitUntil(window.frame.isActiveWindow)
        assert window.tabs.current
        assert window.tabs.current.session is workspace.sessions[1]

    def test_a_panel_stays_above_the_composer_when_its_window_grows(
        self, window: MainWindow, torn_off: ChatWindow, qtbot: QtBot
    ) -> None:
        view = window.tabs.current
        assert view
        view.composer.settings.requested.emit()
        panel = window.chat_options.panel
        gap = view.foot.mapTo(torn_off, QPoint()).y() - panel.geometry().bottom()
        torn_off.resize(torn_off.width(), torn_off.height() + 100)
        QApplication.processEvents()
        assert view.foot.mapTo(torn_off, QPoint()).y() - panel.geometry().bottom() == gap
        panel.close_up()

    def test_the_text_size_is_that_of_all_chats(
        self, window: MainWindow, torn_off: ChatWindow, workspace: FakeWorkspace
    ) -> None:
        QTest.keyClick(torn_off, Qt.Key.Key_Plus, CTRL)
        assert window.appearance.zoom == 1

    @pytest.mark.parametrize(
        "back",
        [
            lambda window, torn_off: QTest.keyClick(torn_off, Qt.Key.Key_W, CTRL),
            lambda window, torn_off: torn_off.back.click(),
            lambda window, torn_off: window.tab_commands.toggle_window(),
        ],
    )
    def test_it_goes_back(
        self,
        window: MainWindow,
        torn_off: ChatWindow,
        workspace: FakeWorkspace,
        back: Callable[[MainWindow, ChatWindow], object],
        qtbot: QtBot,
    ) -> None:
        session = workspace.sessions[0]
        back(window, torn_off)
        assert (workspace.current, window.tabs.windows) == (session, {})
        qtbot.waitUntil(lambda: window.tabs.current.composer.editor.hasFocus())  # type: ignore[union-attr]

    def test_the_settings_of_its_chat_open_in_it_and_again_in_the_main_window(
        self, window: MainWindow, torn_off: ChatWindow, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        for where in (torn_off, window.frame):
            view = window.tabs.current
            assert view
            view.composer.settings.requested.emit()
            panel = window.chat_options.panel
            assert panel.isVisible()
            assert panel.window() is where
            if where is torn_off:
                torn_off.close()
                qtbot.waitUntil(lambda: not isValid(torn_off) and window.frame.isActiveWindow())
            else:
                panel.close_up()
