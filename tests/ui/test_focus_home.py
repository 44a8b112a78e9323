"""Where the focus is once something over the chat has closed, and that each of its places is seen."""

import asyncio
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.chats.chat import Chat, Turn
from app.look.popups import POPUP_CLOSED
from app.look.strip import Offer
from app.look.theme import apply_theme
from app.protocol.request import Role
from app.ui.main_window import MainWindow
from tests.bridge.conftest import until
from tests.ui.fakes import FakeWorkspace
from tests.ui.test_tab_order import walk

Open = Callable[[MainWindow], object]


@pytest.fixture
def chat(window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot) -> MainWindow:
    """Its window, in front, with a chat that has messages."""
    workspace.open(Chat(turns=[Turn(Role.USER, "Hi"), Turn(Role.ASSISTANT, "Hello.")]), 0)
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    return window


def _settings(window: MainWindow) -> QWidget:
    window.show_settings()
    return window.settings_window


def _chat_settings(window: MainWindow) -> QWidget:
    window.tabs.current.composer.settings.open_settings()
    return window.chat_options.panel


def _tools(window: MainWindow) -> QWidget:
    window.tabs.current.composer.tools.open_tools()
    return window.chat_tools.panel


def _models(window: MainWindow) -> QWidget:
    window.model_commands.show_library()
    return window.model_commands.window


def _menu_of_message(window: MainWindow) -> QWidget:
    view = window.tabs.current.transcript.show_turn(window.tabs.current.session.chat.turns[1])
    view.popup_menu(QPoint(10, 10))
    return view.findChild(QMenu)


def _find(window: MainWindow) -> QWidget:
    window.tabs.current.finder.open()
    return window.tabs.current.find_bar


def _sidebar_menu(window: MainWindow) -> QWidget:
    window.navigation.sidebar.list.setFocus()
    menu = next(action.menu() for action in window.frame.menuBar().actions() if action.menu())
    menu.popup(QPoint(0, 0))
    return menu


OPENED: dict[str, Open] = {
    "the menu of models": lambda window: (window.picker.open_up(), window.picker.menu)[1],
    "a menu of the menu bar": _sidebar_menu,
    "the menu of a message": _menu_of_message,
    "the palette": lambda window: (window.command_palette.open_up(), window.command_palette)[1],
    "the search": lambda window: (window.navigation.open_search(), window.navigation.popup)[1],
    "the list of tabs": lambda window: (window.navigation.open_tab_list(), window.navigation.popup)[1],
    "the settings of the chat": _chat_settings,
    "its tools": _tools,
    "the find bar": _find,
    "the settings": _settings,
    "the models": _models,
    "the trash": lambda window: (window.navigation.show_trash(), window.navigation.trash)[1],
    "the API": lambda window: (window.api_menu.show_panel(), window.api_menu.panel)[1],
}


@pytest.mark.parametrize("name", OPENED)
async def test_it_is_in_the_message_again_once_that_has_closed(qloop, chat: MainWindow, name: str) -> None:
    editor = chat.tabs.current.composer.editor
    chat.picker.button.setFocus()  # the keyboard may be anywhere
    opened = OPENED[name](chat)
    await until(opened.isVisible)
    keyboard = opened if opened.isWindow() else QApplication.focusWidget()
    QTest.keyClick(keyboard, Qt.Key.Key_Escape)
    await until(lambda: not opened.isVisible())
    chat.frame.activateWindow()  # as a window manager does
    await until(editor.hasFocus)
    await finish_all()


def test_a_button_that_goes_leaves_it_to_the_message(chat: MainWindow, qtbot: QtBot) -> None:
    view = chat.tabs.current
    view.composer.waiting.say("1 message queued.", Offer("Send now", lambda: None))
    view.composer.waiting.buttons[0].setFocus()
    qtbot.keyClick(view.composer.waiting.buttons[0], Qt.Key.Key_Space)
    qtbot.waitUntil(view.composer.editor.hasFocus)


async def test_it_stays_where_somebody_types_and_in_a_panel_that_is_open(qloop, chat: MainWindow) -> None:
    view = chat.tabs.current
    message = view.transcript.show_turn(view.session.chat.turns[0])
    message.start_editing()
    chat.picker.open_up()
    QTest.keyClick(chat.picker.menu, Qt.Key.Key_Escape)
    chat.frame.activateWindow()
    await asyncio.sleep(0.01)
    assert message.editor.text.hasFocus()

    view.composer.settings.open_settings()
    panel = chat.chat_options.panel
    panel.more.setFocus()
    QApplication.postEvent(chat.frame, QEvent(POPUP_CLOSED))  # of a menu in it
    await asyncio.sleep(0.01)
    assert panel.isVisible()
    assert panel.isAncestorOf(QApplication.focusWidget())
    await finish_all()


async def test_it_stays_in_a_panel_of_the_inspector_and_goes_with_it(qloop, chat: MainWindow) -> None:
    editor = chat.tabs.current.composer.editor
    chat.inspector.show_panel("comparison")
    picker = chat.inspector.panel("comparison").text
    editor.setFocus()
    picker.setFocus()
    picker.menu().popup(QPoint(0, 0))
    QTest.keyClick(picker.menu(), Qt.Key.Key_Down)
    QTest.keyClick(picker.menu(), Qt.Key.Key_Return)
    await until(lambda: not picker.menu().isVisible())
    chat.frame.activateWindow()  # as a window manager does
    await asyncio.sleep(0.01)
    assert picker.hasFocus()

    chat.inspector.dock("comparison").close()
    await until(editor.hasFocus)
    await finish_all()


def test_after_a_split_view_it_is_in_the_chat_that_stays(chat: MainWindow, qtbot: QtBot) -> None:
    chat.tab_commands.toggle_split()
    chat.tab_commands.toggle_split()
    qtbot.waitUntil(chat.tabs.current.composer.editor.hasFocus)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_stop_of_tab_shows_that_it_has_it(
    chat: MainWindow, qapp: QApplication, qtbot: QtBot, theme: str
) -> None:
    apply_theme(qapp, theme)
    editor = chat.tabs.current.composer.editor
    stops = walk(editor, qtbot)
    unseen = []
    for stop in stops[1:]:
        editor.setFocus()
        without = _picture(chat, stop)
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        if _picture(chat, stop) == without:
            unseen.append(f"{type(stop).__name__} {stop.accessibleName()}")
    assert unseen == []


def _picture(window: MainWindow, part: QWidget) -> QImage:
    """With a little of what is round it."""
    QApplication.processEvents()
    place = QRect(part.mapTo(window.frame, QPoint(0, 0)), part.size()).adjusted(-4, -4, 4, 4)
    return window.frame.grab(place).toImage()
