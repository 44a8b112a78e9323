"""The sidebar and the search, in a window over a real database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.bridge import tasks
from app.bridge.workspace import Workspace
from app.chats.chat import Chat, Turn
from app.look import marks
from app.look.theme import apply_theme
from app.protocol.request import Role
from app.services.chat_library import ChatLibrary
from app.settings.settings import Settings
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.list_rows import Tabs
from app.ui.chats.navigation import Navigation, said_words
from app.ui.chats.sidebar_model import RowKind
from app.ui.main_window import MainWindow
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine
from tests.ui.windows import new_window

CTRL = Qt.KeyboardModifier.ControlModifier


class Run:
    def __init__(self, window: MainWindow, workspace: Workspace, library: ChatLibrary) -> None:
        assert window.navigation
        self.window, self.workspace, self.library = window, workspace, library
        self.navigation: Navigation = window.navigation

    @property
    def listed(self) -> list[str]:
        return [row.text for row in self.navigation.sidebar.model.rows if row.kind is not RowKind.HEADING]

    @property
    def tabs(self) -> list[str]:
        return [tab.title for tab in self.window.tabs.tabs]

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            await asyncio.sleep(0.005)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.window.frame.activateWindow()
        QTest.keyClick(QApplication.focusWidget() or self.window.frame, key, modifiers)


def chat(chat_id: str, title: str, *texts: str, **values: object) -> Chat:
    turns = [
        Turn(Role.USER if n % 2 == 0 else Role.ASSISTANT, text) for n, text in enumerate(texts or (title,))
    ]
    return Chat(chat_id, title, turns=turns, **values)  # type: ignore[arg-type]


CHATS = (
    chat("a", "Sums", "What is 34 + 21?", "34 + 21 = 55"),
    chat("b", "Caches", "Why?", "The prompt cache keeps cells.", "And then?", "Nothing."),
    chat("c", "键值", "什么是键值缓存？"),
)


@pytest.fixture
def run(qloop: asyncio.AbstractEventLoop, qapp: QApplication, tmp_path: Path) -> Callable[..., object]:
    @asynccontextmanager
    async def start(width: int = 1280) -> AsyncIterator[Run]:
        apply_theme(qapp, "light")
        parent, engine, settings = QObject(), FakeEngine(model_info(name="starter")), Settings(theme="light")
        store = ChatStore(tmp_path / "chats.db")
        await store.open()
        await store.save([ChatChange.of(each) for each in CHATS], Tabs(("a",), "a"))
        workspace = Workspace(engine, store, settings, parent)  # type: ignore[arg-type]
        window = new_window(engine, workspace, store, settings)
        library = window._services.chat_library
        window.frame.resize(width, 700)
        window.frame.show()
        await workspace.restore()
        await library.load()
        running = Run(window, workspace, library)
        await running.until(lambda: len(running.listed) == len(CHATS))
        try:
            yield running
        finally:  # a test that failed leaves no window to the next one
            window.frame.hide()
            await workspace.shut_down()
            await tasks.finish_all()
            await store.close()
            window.frame.deleteLater()
            parent.deleteLater()
            await asyncio.sleep(0)

    return start


async def test_a_chat_of_the_list_opens_in_a_tab_by_keyboard_alone(qloop, run) -> None:
    async with run() as it:
        side = it.navigation.sidebar
        side.select(RowKind.CHAT, "b")
        side.list.setFocus()
        it.press(Qt.Key.Key_Return)
        await it.until(lambda: it.workspace.current.chat.id == "b")
        assert it.tabs == ["Sums", "Caches"]
        await it.until(lambda: "prompt cache" in it.window.tabs.current.transcript.plain_text())
        assert it.window.tabs.current.composer.editor.hasFocus()


async def test_what_a_click_opened_makes_way_for_the_next_until_it_is_kept(qloop, run) -> None:
    async with run() as it:
        side, bar = it.navigation.sidebar.list, it.window.tabs.strip.bar

        async def click(chat_id: str) -> None:
            place = side.visualRect(side.model().index_of((RowKind.CHAT, chat_id))).center()
            QTest.mouseClick(side.viewport(), Qt.MouseButton.LeftButton, pos=place)
            await it.until(lambda: it.workspace.current.chat.id == chat_id)

        await click("b")
        await click("c")
        assert it.tabs == ["Sums", "键值"]
        assert not it.window.undo.isVisible()
        assert "preview" in bar.tabToolTip(1)
        QTest.mouseDClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(1).center())
        assert "preview" not in bar.tabToolTip(1)
        await click("b")
        assert it.tabs == ["Sums", "键值", "Caches"]


async def test_the_search_looks_at_what_it_finds(qloop, run) -> None:
    async with run() as it:
        for chat_id, turn in (("b", 1), ("c", 0)):
            it.navigation._on_chosen(chat_id, CHATS["abc".index(chat_id)].turns[turn].id, "cells")
            await it.until(lambda chat_id=chat_id: it.workspace.current.chat.id == chat_id)
            await it.until(lambda: it.window.tabs.current.find_bar.isVisible())
        assert it.tabs == ["Sums", "键值"]


async def test_the_search_finds_a_message_opens_its_chat_and_marks_the_words(qloop, run) -> None:
    async with run() as it:
        it.press(Qt.Key.Key_K, CTRL)
        popup = it.navigation.popup
        assert popup.isVisible()
        QTest.keyClicks(popup.field, "prompt cac")
        await it.until(lambda: [row for row in popup.model.rows if getattr(row, "turn_id", "")])
        it.press(Qt.Key.Key_Return)
        await it.until(
            lambda: it.workspace.current.chat.id == "b" and it.window.tabs.current.find_bar.isVisible()
        )
        assert it.window.tabs.current.find_bar.field.text() == "prompt cac"


async def test_a_message_of_another_version_is_shown(qloop, run) -> None:
    async with run() as it:
        session = it.workspace.current
        session.edit_answer(session.chat.turns[1], "55, of course")
        session.edit_answer(session.chat.turns[1], "fifty-five")
        await it.workspace.autosave.flush()
        it.navigation._on_chosen("a", session.chat.versions_of(session.chat.turns[1])[1].id, "course")
        await it.until(lambda: session.chat.turns[1].text == "55, of course")


async def test_the_list_is_hidden_in_a_narrow_window_until_it_is_asked_for(qloop, run) -> None:
    async with run(width=900) as it:
        side = it.navigation.sidebar
        assert side.isHidden()
        it.press(Qt.Key.Key_B, CTRL)
        assert side.isVisible()
        assert side.list.hasFocus()
        it.press(Qt.Key.Key_B, CTRL)
        assert side.isHidden()
        it.window.frame.resize(1300, 700)  # it was hidden on purpose by now
        assert side.isHidden()
        assert it.navigation.choice is False


async def test_the_list_follows_the_width_until_somebody_has_chosen(qloop, run) -> None:
    async with run(width=900) as it:
        it.window.inspector.set_shown(False)
        for width, is_shown in ((1300, True), (950, False)):
            it.window.frame.resize(width, 700)
            await it.until(lambda is_shown=is_shown: it.navigation.sidebar.isVisible() is is_shown)
        assert it.navigation.choice is None


async def test_the_list_makes_way_where_the_inspector_leaves_no_room(qloop, run) -> None:
    async with run(width=1280) as it:
        for has_inspector in (False, True, False):
            it.window.inspector.set_shown(has_inspector)
            await it.until(lambda shown=has_inspector: it.navigation.sidebar.isVisible() is not shown)
        assert it.navigation.choice is None


async def test_its_width_is_kept_while_it_is_hidden(qloop, run) -> None:
    async with run() as it:
        it.navigation.restore(300, True, ())
        it.window.middle.setSizes([300, 900])
        await asyncio.sleep(0)
        width = it.navigation.width
        it.navigation.toggle_sidebar()
        assert it.navigation.width == width
        it.navigation.toggle_sidebar()
        await it.until(lambda: it.navigation.sidebar.width() == width)


async def test_a_deleted_chat_comes_back_by_undo(qloop, run) -> None:
    async with run() as it:
        side = it.navigation.sidebar
        side.select(RowKind.CHAT, "a")
        side.list.setFocus()
        it.press(Qt.Key.Key_Delete)
        await it.until(lambda: "Sums" not in it.listed)
        assert it.tabs == ["New chat"]
        assert it.window.undo.text == "Deleted “Sums”."
        it.window.undo.button.click()
        await it.until(lambda: "Sums" in it.listed and "Sums" in it.tabs)


async def test_a_closed_chat_that_is_being_answered_is_marked_in_the_list_and_comes_back_so(
    qloop, run
) -> None:
    async with run() as it:
        session = it.workspace.current
        await it.until(lambda: session.is_loaded)
        session.send("And 21 + 34?")
        it.workspace.close(session)
        assert it.window.undo.text == "Closed “Sums”. Its answer goes on."
        shown = it.navigation.sidebar.model
        await it.until(lambda: shown._marks.get("a") is marks.COMPUTING)
        it.window.undo.button.click()
        assert (it.workspace.current, session.is_busy, it.window.undo.isHidden()) == (session, True, True)
        it.workspace.close(session)
        session.answers.close()
        await it.until(lambda: "a" not in shown._marks)


async def test_there_is_nothing_to_undo_once_the_trash_has_brought_it_back(qloop, run) -> None:
    async with run() as it:
        it.navigation.sidebar.delete_requested.emit(("a", "b"))
        await it.until(lambda: not {"Sums", "Caches"} & set(it.listed))
        it.navigation.show_trash()
        trash = it.navigation.trash
        await it.until(lambda: trash.list.count() == 2)
        trash.list.setCurrentRow(0)
        trash.restore.click()
        await it.until(lambda: trash.list.count() == 1)
        assert it.window.undo.isVisible(), "one is still deleted"
        trash.list.setCurrentRow(0)
        trash.restore.click()
        await it.until(lambda: trash.list.count() == 0)
        assert not it.window.undo.isVisible()
        trash.close()


async def test_a_new_folder_asks_for_its_name_where_it_stands(qloop, run) -> None:
    async with run() as it:
        it.navigation.new_folder(("a", "b"))
        edit = it.navigation.sidebar.list.viewport().findChild(QLineEdit)
        assert edit.text() == "New folder"
        QTest.keyClicks(edit, "Work")
        QTest.keyClick(edit, Qt.Key.Key_Return)
        await it.until(lambda: "Work" in it.listed)
        assert it.library.folders == ("Work",)
        assert set(it.library.chats_in("Work")) == {"a", "b"}


async def test_a_deleted_folder_comes_back_with_its_chats(qloop, run) -> None:
    async with run() as it:
        for name in ("Work", "Play"):
            it.library.create_folder(name)
        it.library.move(("a",), "Work")
        it.navigation.sidebar.folder_deleted.emit("Work")
        assert it.library.chats_in("Work") == ()
        it.window.undo.button.click()
        assert it.library.chats_in("Work") == ("a",)
        assert it.library.folders == ("Work", "Play")


async def test_a_renamed_chat_is_renamed_everywhere(qloop, run) -> None:
    async with run() as it:
        it.library.rename("a", "Adding")
        await it.until(lambda: "Adding" in it.listed)
        assert it.tabs == ["Adding"]
        assert it.window.frame.windowTitle() == "Adding — Skein"


async def test_the_button_at_the_end_of_the_tabs_lists_them_all(qloop, run) -> None:
    async with run() as it:
        it.window.tabs.strip.list.click()
        rows = it.navigation.popup.model.rows
        assert [row.plain_title for row in rows[1:2]] == ["Sums"]
        assert rows[0].text == "Open chats"
        frame, popup, button = it.window.frame, it.navigation.popup, it.window.tabs.strip.list
        edge = button.mapTo(frame, button.rect().bottomRight())
        assert popup.geometry().topRight() == edge - QPoint(1, -1)


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("The prompt cache.", "prompt cache", "prompt cache"),
        ("The cache of a prompt.", "prompt cache", "prompt"),
        ("The Prompt Cache.", '"prompt cache"', "prompt cache"),
        ("Nothing", "prompt", "prompt"),
    ],
)
def test_what_the_find_bar_looks_for_is_in_the_message(text: str, words: str, found: str) -> None:
    assert said_words(text, words) == found
