"""What the window's tabs do with the chats of a workspace."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat
from app.look import marks
from app.look.theme import apply_theme
from app.protocol.report import HibernatedChat, PauseState, SlotState
from app.ui.tabs import chat_tabs
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.transcript.turn_editor import TurnEditor
from tests.inspector.reports import decoding, report
from tests.ui.fakes import FakeWorkspace
from tests.ui.tabs.conftest import sessions, texts


class Showing(QObject):
    """Writes down when a page is shown."""

    def __init__(self, shown: list[str], chat_id: str, page: QObject) -> None:
        super().__init__(page)
        self._shown, self._chat_id = shown, chat_id

    def eventFilter(self, _page: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self._shown.append(self._chat_id)
        return False


class TestViews:
    def test_a_chat_is_drawn_when_it_is_first_shown(self, tabs: ChatTabs, workspace: FakeWorkspace) -> None:
        assert [tab.view is not None for tab in tabs.tabs] == [True, False, False]
        workspace.sessions[2].send("Count")
        assert tabs.tabs[2].mark is marks.COMPUTING
        workspace.set_current(workspace.sessions[2])
        assert [tab.view is not None for tab in tabs.tabs] == [True, False, True]

    def test_the_page_of_a_chat_that_is_coming_is_made_before_it_is_shown(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        tabs.show()
        workspace.coming.emit(workspace.sessions[2])
        made = tabs.tabs[2].view
        assert made
        assert not made.isVisible()
        workspace.set_current(workspace.sessions[2])
        assert tabs.current is made
        assert made.isVisible()

    def test_a_view_made_late_knows_what_the_others_know(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        workspace.sessions[1].n_ctx = 4096
        tabs.apply({"": report(1, decoding(2, workspace.sessions[1].chat.id, 823))})
        workspace.set_current(workspace.sessions[1])
        assert tabs.current
        assert tabs.current.composer.meter.text == "823 / 4,096"

    def test_a_chat_with_cells_in_two_engines_is_shown_as_the_one_that_answers_has_it(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        """It was forked from a chat of another model."""
        session = workspace.sessions[1]
        answering = decoding(2, session.chat.id, 823)
        idle = replace(answering, seq_id=1, state=SlotState.WARM, request_id="", num_cells=700)
        session.choose_model("b.gguf")
        tabs.apply({"b.gguf": report(1, answering), "a.gguf": report(1, idle)})
        assert tabs.tabs[1].slot == answering
        rests = replace(idle, seq_id=2, num_cells=830)
        tabs.apply({"b.gguf": report(2, rests), "a.gguf": report(1, idle)})
        assert tabs.tabs[1].slot == rests

    def test_a_closed_one_is_followed_by_the_next_and_by_no_other(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        """A stack shows whatever page it has in the place of one that goes."""
        a, b, c = workspace.sessions
        shown: list[str] = []
        for session in (c, b, a):
            workspace.set_current(session)
        for tab in tabs.tabs:
            assert tab.view
            tab.view.installEventFilter(Showing(shown, tab.session.chat.id, tab.view))
        workspace.close(a)
        assert shown == [b.chat.id]

    def test_views_shown_long_ago_are_dropped_and_made_again(
        self, tabs: ChatTabs, workspace: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chat_tabs, "MAX_VIEWS", 2)
        a, b, c = workspace.sessions
        a.send("Count")
        a.say("1, 2")
        for session in (b, c):
            workspace.set_current(session)
        assert [tab.view is not None for tab in tabs.tabs] == [False, True, True]
        a.say(", 3")
        workspace.set_current(a)
        assert tabs.current
        assert tabs.current.transcript.plain_text().endswith("1, 2, 3")

    def test_a_message_that_is_being_edited_is_not_lost_with_its_view(
        self, tabs: ChatTabs, workspace: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chat_tabs, "MAX_VIEWS", 1)
        first = tabs.current
        assert first
        TurnEditor("half a thou", "Save", first.transcript)
        for session in workspace.sessions[1:]:
            workspace.set_current(session)
        assert [tab.view is not None for tab in tabs.tabs] == [True, False, True]

    def test_many_tabs_that_open_at_once_tell_their_titles_once(
        self, tabs: ChatTabs, workspace: FakeWorkspace, qtbot: QtBot
    ) -> None:
        told: list[dict[str, str]] = []
        tabs.titles_changed.connect(told.append)
        workspace.restoring.emit(True)
        assert not tabs.strip.bar.isVisible()
        for number in range(50):
            workspace.add(Chat(title=f"Chat {number}"), 99)
        workspace.restoring.emit(False)
        qtbot.waitUntil(lambda: bool(told))
        assert tabs.strip.bar.isVisible()
        assert len(told) == 1
        assert list(told[0].values())[-1] == "Chat 49"


class TestReports:
    def test_only_tabs_the_report_is_about_are_touched(
        self, tabs: ChatTabs, workspace: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        touched: list[str] = []
        monkeypatch.setattr(tabs.strip, "apply", lambda _index, tab, *_: touched.append(tab.title))
        first, second = (session.chat.id for session in workspace.sessions[:2])
        tabs.apply({"": report(1, decoding(0, first, 10))})
        tabs.apply({"": report(2, hibernated=(HibernatedChat(second, 5, 5, is_on_disk=False),))})
        tabs.apply({"": report(3)})
        assert sorted(touched) == ["A", "A", "B", "B"]

    def test_a_pause_reaches_every_tab(self, tabs: ChatTabs, workspace: FakeWorkspace) -> None:
        workspace.sessions[2].send("Count")
        tabs.apply({"": replace(report(1), pause=PauseState(""))})
        assert tabs.tabs[2].mark is marks.PAUSED
        tabs.apply({"": report(2)})
        assert tabs.tabs[2].mark is marks.COMPUTING


class TestUnread:
    def test_an_answer_that_ends_behind_is_unread_until_it_is_shown(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        behind = workspace.sessions[1]
        behind.send("Count")
        behind.finish()
        assert tabs.tabs[1].mark is marks.UNREAD
        workspace.set_current(behind)
        assert tabs.tabs[1].mark is marks.IDLE

    def test_a_new_name_is_nothing_to_read(self, tabs: ChatTabs, workspace: FakeWorkspace) -> None:
        workspace.sessions[1].rename("Sums")
        assert tabs.tabs[1].mark is marks.IDLE
        assert texts(tabs)[1] == "Sums"


def test_marks_follow_the_theme(tabs: ChatTabs, workspace: FakeWorkspace, qapp: QApplication) -> None:
    def image() -> QImage:
        return tabs.strip.bar.tabIcon(2).pixmap(20, 16).toImage()

    workspace.sessions[2].send("Count")
    light = image()
    apply_theme(qapp, "dark")
    try:
        assert image() != light
    finally:
        apply_theme(qapp, "light")
    assert image() == light


class TestMoving:
    def test_a_tab_dragged_among_the_pinned_ones_goes_back_when_it_is_let_go(
        self, tabs: ChatTabs, workspace: FakeWorkspace
    ) -> None:
        workspace.set_pinned(workspace.sessions[0], True)
        tabs.strip.bar.moveTab(2, 0)  # as the mouse does
        assert sessions(workspace) == "ACB"
        tabs.strip.bar.let_go.emit()
        assert texts(tabs) == ["A", "C", "B"]
        assert [tab.title for tab in tabs.tabs] == ["A", "C", "B"]
