import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from PySide6.QtCore import QItemSelectionModel, QMimeData, QModelIndex, QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.look import marks
from app.look.popups import Menu
from app.storage.list_rows import ChatSummary
from app.ui.chats import sidebar, sidebar_model
from app.ui.chats.sidebar import Sidebar
from app.ui.chats.sidebar_model import CHATS_TYPE, MARK, RowKind, local_today

Key = Qt.Key
MOVE = Qt.DropAction.MoveAction


def chat(chat_id: str, age_s: float = 0, **values: object) -> ChatSummary:
    given = {"title": f"Chat {chat_id}", "folder": "", "is_pinned": False} | values
    at = time.time() - age_s
    return ChatSummary(chat_id, created_at=at, updated_at=at, num_turns=1, **given)  # type: ignore[arg-type]


CHATS = (chat("a"), chat("b", 1), chat("c", 2), chat("w", folder="Work"), chat("p", is_pinned=True))


class FakeLibrary:
    """Remembers what it was told to do."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *values: self.done.append((name, *values))


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def side(library: Any, qtbot: QtBot) -> Iterator[Sidebar]:
    side = Sidebar(library)
    qtbot.addWidget(side)
    QAbstractItemModelTester(side.model, side)
    side.resize(240, 500)
    side.apply(CHATS, ("Work", "Play"))
    side.show()
    qtbot.waitExposed(side)
    yield side
    side.hide()


def titles(side: Sidebar) -> list[str]:
    return [row.text for row in side.model.rows if row.kind is not RowKind.HEADING]


def place_of(side: Sidebar, kind: RowKind, key: str) -> QPoint:
    return side.list.visualRect(side.model.index_of((kind, key))).center()


def menu_of(side: Sidebar) -> Menu:
    """The one that is open."""
    menus = [menu for menu in side.findChildren(Menu) if menu.isVisible()]
    assert len(menus) == 1
    return menus[0]


def action(side: Sidebar, text: str) -> QAction:
    found = [each for each in menu_of(side).findChildren(QAction) if each.text().replace("&", "") == text]
    assert len(found) == 1, text
    return found[0]


class TestKeys:
    def test_arrows_pass_over_headings_and_enter_opens(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        side.select(RowKind.FOLDER, "Play")
        qtbot.keyClick(side.list, Key.Key_Down)
        qtbot.keyClick(side.list, Key.Key_Return)
        assert library.done[-1] == ("open", "a")
        qtbot.keyClick(side.list, Key.Key_Up)
        assert side.list.currentIndex().data() == "Play"

    def test_left_and_right_close_and_open_a_folder(self, side: Sidebar, qtbot: QtBot) -> None:
        side.select(RowKind.CHAT, "w")
        qtbot.keyClick(side.list, Key.Key_Left)
        assert side.list.currentIndex().data() == "Work"
        qtbot.keyClick(side.list, Key.Key_Left)
        assert "Chat w" not in titles(side)
        assert side.model.closed_folders == ("Work",)
        assert side.list.currentIndex().data() == "Work"
        qtbot.keyClick(side.list, Key.Key_Right)
        assert "Chat w" in titles(side)

    def test_delete_deletes_and_the_keyboard_stays_near(self, side: Sidebar, qtbot: QtBot) -> None:
        side.select(RowKind.CHAT, "b")
        with qtbot.waitSignal(side.delete_requested) as deleted:
            qtbot.keyClick(side.list, Key.Key_Delete)
        assert deleted.args == [("b",)]
        side.apply([one for one in CHATS if one.id != "b"], ("Work", "Play"))
        assert side.list.currentIndex().data() == "Chat c"

    def test_several_can_be_deleted_at_once(self, side: Sidebar, qtbot: QtBot) -> None:
        side.select(RowKind.CHAT, "a")
        qtbot.keyClick(side.list, Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
        with qtbot.waitSignal(side.delete_requested) as deleted:
            qtbot.keyClick(side.list, Key.Key_Delete)
        assert deleted.args == [("a", "b")]

    def test_a_deleted_folder_is_told_as_such(self, side: Sidebar, qtbot: QtBot) -> None:
        side.select(RowKind.FOLDER, "Play")
        with qtbot.waitSignal(side.folder_deleted) as deleted:
            qtbot.keyClick(side.list, Key.Key_Delete)
        assert deleted.args == ["Play"]

    @pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_Escape])
    def test_f2_renames_in_place(self, side: Sidebar, library: FakeLibrary, qtbot: QtBot, key: Key) -> None:
        side.left.connect(lambda: pytest.fail("escape was about the field"))
        side.select(RowKind.CHAT, "a")
        qtbot.keyClick(side.list, Key.Key_F2)
        edit = side.list.viewport().findChild(QLineEdit)
        assert edit
        assert edit.text() == "Chat a"
        qtbot.keyClicks(edit, "Other  name ")
        qtbot.keyClick(edit, key)
        qtbot.waitUntil(lambda: side.list.state() == QAbstractItemView.State.NoState)
        assert library.done == ([("rename", "a", "Other name")] if key == Key.Key_Return else [])

    def test_the_list_may_change_while_a_chat_is_renamed(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        side.rename(RowKind.CHAT, "b")
        edit = side.list.viewport().findChild(QLineEdit)
        assert edit
        side.apply((chat("new"), chat("newer"), *CHATS), ("Work", "Play"))
        qtbot.keyClicks(edit, "Other")
        qtbot.keyClick(edit, Key.Key_Return)
        qtbot.waitUntil(lambda: library.done == [("rename", "b", "Other")])

    def test_renaming_goes_on_while_another_window_is_in_front(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        """On X11 a menu that closes is one for a moment."""
        side.rename(RowKind.CHAT, "b")
        field = side.list.viewport().findChild(QLineEdit)
        assert field
        other = QLineEdit()
        qtbot.addWidget(other)
        other.show()
        other.activateWindow()
        qtbot.waitUntil(other.isActiveWindow)
        assert side.list.state() == QAbstractItemView.State.EditingState
        side.activateWindow()
        qtbot.waitUntil(field.hasFocus)
        qtbot.keyClicks(field, "Other")
        side.filter.setFocus()
        qtbot.waitUntil(lambda: library.done == [("rename", "b", "Other")])

    def test_a_folder_is_renamed_too(self, side: Sidebar, library: FakeLibrary, qtbot: QtBot) -> None:
        side.rename(RowKind.FOLDER, "Work")
        edit = side.list.viewport().findChild(QLineEdit)
        assert edit
        qtbot.keyClicks(edit, "Job")
        qtbot.keyClick(edit, Key.Key_Return)
        qtbot.waitUntil(lambda: library.done == [("rename_folder", "Work", "Job")])

    def test_escape_goes_back_to_the_message(self, side: Sidebar, qtbot: QtBot) -> None:
        with qtbot.waitSignal(side.left):
            qtbot.keyClick(side.list, Key.Key_Escape)

    def test_the_menu_key_asks_about_the_current_row(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        side.select(RowKind.CHAT, "a")
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
        QApplication.sendEvent(side.list, event)
        action(side, "Fork").trigger()
        assert library.done[-1] == ("fork", "a")
        menu_of(side).close()

    def test_a_row_selected_for_its_menu_alone_is_left_as_it_was(self, side: Sidebar, qtbot: QtBot) -> None:
        place = side.list.visualRect(side.model.index_of((RowKind.CHAT, "b"))).center()
        reason = QContextMenuEvent.Reason.Mouse
        event = QContextMenuEvent(reason, place, side.list.viewport().mapToGlobal(place))
        qtbot.mousePress(side.list.viewport(), Qt.MouseButton.RightButton, pos=place)
        QApplication.sendEvent(side.list.viewport(), event)
        assert [row.chat_id for row in side.selected_rows()] == ["b"]
        menu_of(side).close()
        qtbot.waitUntil(lambda: not side.selected_rows())


class TestFilter:
    def test_typing_filters_and_down_goes_to_the_first(self, side: Sidebar, qtbot: QtBot) -> None:
        side.filter.setFocus()
        qtbot.keyClicks(side.filter, "chat b")
        assert titles(side) == ["Chat b"]
        qtbot.keyClick(side.filter, Key.Key_Down)
        assert side.list.currentIndex().data() == "Chat b"

    def test_enter_opens_the_first_and_escape_clears(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        side.filter.setFocus()
        qtbot.keyClicks(side.filter, "c")
        qtbot.keyClick(side.filter, Key.Key_Return)
        assert library.done[-1] == ("open", "p")
        qtbot.keyClick(side.filter, Key.Key_Escape)
        assert side.filter.text() == ""
        with qtbot.waitSignal(side.left):
            qtbot.keyClick(side.filter, Key.Key_Escape)


class TestMouse:
    def test_a_click_looks_at_a_chat_and_opens_a_folder(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        left = Qt.MouseButton.LeftButton
        qtbot.mouseClick(side.list.viewport(), left, pos=place_of(side, RowKind.CHAT, "b"))
        assert library.done == [("look_at", "b")]
        qtbot.mouseClick(side.list.viewport(), left, pos=place_of(side, RowKind.FOLDER, "Work"))
        assert "Chat w" not in titles(side)

    def test_a_double_click_keeps_a_chat_and_is_two_clicks_on_a_folder(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        for kind, key in ((RowKind.CHAT, "b"), (RowKind.FOLDER, "Work")):
            for act in (qtbot.mouseClick, qtbot.mouseDClick, qtbot.mouseRelease):
                act(side.list.viewport(), Qt.MouseButton.LeftButton, pos=place_of(side, kind, key))
        assert library.done[:2] == [("look_at", "b"), ("open", "b")]
        assert "Chat w" in titles(side)

    def test_a_click_with_ctrl_only_selects(self, side: Sidebar, library: FakeLibrary, qtbot: QtBot) -> None:
        for chat_id in ("b", "c"):
            place = place_of(side, RowKind.CHAT, chat_id)
            modifier = Qt.KeyboardModifier.ControlModifier
            qtbot.mouseClick(side.list.viewport(), Qt.MouseButton.LeftButton, modifier, place)
        assert [row.chat_id for row in side.selected_rows()] == ["b", "c"]
        assert library.done == []

    def test_the_menu_moves_all_selected_chats_into_a_folder(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot
    ) -> None:
        for chat_id in ("a", "b"):
            index = side.model.index_of((RowKind.CHAT, chat_id))
            side.list.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)
        event = QContextMenuEvent(
            QContextMenuEvent.Reason.Mouse, place_of(side, RowKind.CHAT, "b"), side.mapToGlobal(QPoint())
        )
        QApplication.sendEvent(side.list.viewport(), event)
        action(side, "Play").trigger()
        assert library.done[-1] == ("move", ("a", "b"), "Play")
        action(side, "Pin").trigger()
        assert library.done[-1] == ("set_pinned", ("a", "b"), True)
        with qtbot.waitSignal(side.export_requested) as exported:
            action(side, "Export…").trigger()
        assert exported.args == [("a", "b")]
        menu_of(side).close()

    def test_beside_the_chats_the_menu_makes_something_new(self, side: Sidebar, qtbot: QtBot) -> None:
        side.select(RowKind.CHAT, "a")
        below = QPoint(20, side.list.viewport().height() - 2)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, below, side.mapToGlobal(below))
        QApplication.sendEvent(side.list.viewport(), event)
        with qtbot.waitSignal(side.folder_requested):
            action(side, "New folder").trigger()
        menu_of(side).close()


class TestDragging:
    def dragged(self, side: Sidebar, *chat_ids: str) -> QMimeData:
        return side.model.mimeData([side.model.index_of((RowKind.CHAT, chat_id)) for chat_id in chat_ids])

    @pytest.mark.parametrize(
        ("kind", "key", "folder"),
        [(RowKind.FOLDER, "Play", "Play"), (RowKind.CHAT, "w", "Work"), (RowKind.CHAT, "a", "")],
    )
    def test_chats_go_where_they_are_dropped(
        self, side: Sidebar, library: FakeLibrary, qtbot: QtBot, kind: RowKind, key: str, folder: str
    ) -> None:
        data = self.dragged(side, "b", "w")
        place = side.model.index_of((kind, key))
        assert side.model.canDropMimeData(data, MOVE, -1, -1, place)
        assert not side.model.dropMimeData(data, MOVE, -1, -1, place)  # no row is to be removed
        assert library.done[-1] == ("move", ("b", "w"), folder)

    def test_nothing_else_can_be_dropped(self, side: Sidebar) -> None:
        text = QMimeData()
        text.setText("a")
        assert not side.model.canDropMimeData(text, MOVE, -1, -1, side.model.index(1))
        assert not side.model.canDropMimeData(self.dragged(side, "a"), MOVE, -1, -1, QModelIndex())

    def test_headings_and_folders_are_not_dragged(self, side: Sidebar) -> None:
        drag = Qt.ItemFlag.ItemIsDragEnabled
        kinds = {
            row.kind for n, row in enumerate(side.model.rows) if side.model.flags(side.model.index(n)) & drag
        }
        assert kinds == {RowKind.CHAT}
        assert side.model.mimeTypes() == [CHATS_TYPE]


class TestMarks:
    def test_open_chats_have_their_marks_and_only_changed_rows_are_drawn(
        self, side: Sidebar, qtbot: QtBot
    ) -> None:
        side.set_marks({"a": marks.IDLE, "b": marks.COMPUTING}, "a")
        index = side.model.index_of((RowKind.CHAT, "b"))
        assert index.data(MARK) is marks.COMPUTING
        changed: list[int] = []
        side.model.dataChanged.connect(lambda first, _last: changed.append(first.row()))
        side.set_marks({"a": marks.IDLE, "b": marks.UNREAD}, "a")
        assert changed == [index.row()]

    def test_what_is_painted_is_said(self, side: Sidebar) -> None:
        side.set_marks({"b": marks.COMPUTING, "p": marks.IDLE}, "b")
        spoken = Qt.ItemDataRole.AccessibleTextRole
        assert side.model.index_of((RowKind.CHAT, "b")).data(spoken) == "Chat b, open · computing"
        assert side.model.index_of((RowKind.CHAT, "p")).data(spoken) == "Chat p, pinned · open"
        assert side.model.index_of((RowKind.FOLDER, "Work")).data(spoken) == "Folder Work, 1 chat"

    def test_a_tooltip_cannot_become_html(self, side: Sidebar) -> None:
        side.apply([chat("x", title="<img src=file:///dev/zero>")], ())
        tip = side.model.index_of((RowKind.CHAT, "x")).data(Qt.ItemDataRole.ToolTipRole)
        assert tip == "&lt;img src=file:///dev/zero&gt;"


def test_the_keyboard_stays_on_its_chat_when_the_list_changes(side: Sidebar) -> None:
    side.select(RowKind.CHAT, "c")
    side.apply((chat("new"), chat("newer"), *CHATS), ("Work", "Play"))
    assert side.list.currentIndex().data() == "Chat c"


def test_at_midnight_chats_are_of_yesterday(side: Sidebar, monkeypatch: pytest.MonkeyPatch) -> None:
    tomorrow = local_today() + timedelta(days=1)
    for module in (sidebar, sidebar_model):
        monkeypatch.setattr(module, "local_today", lambda: tomorrow)
    side._clock.timeout.emit()
    assert "Yesterday" in [row.text for row in side.model.rows]


def test_a_list_that_has_not_been_read_says_nothing(qtbot: QtBot) -> None:
    side = Sidebar(FakeLibrary())  # type: ignore[arg-type]
    qtbot.addWidget(side)
    assert side._nothing.isHidden()


def test_an_empty_list_says_so(side: Sidebar) -> None:
    side.apply((), ())
    assert side._nothing.text() == "No chats yet."
    assert side._nothing.isVisible()
