import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.bridge import tasks
from app.bridge.workspace import MAX_CLOSED, NUM_END_TURNS, Workspace
from app.chats.attachment import Attachment
from app.chats.chat import Chat, Turn, TurnState
from app.chats.options import ChatOptions
from app.protocol.output import FinishReason
from app.protocol.request import Overflow, Role
from app.storage.chat_rows import SavedChat, SavedTurns
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.list_rows import ClosedTab, SavedWorkspace, Tabs
from tests.bridge.conftest import until


class Heard:
    def __init__(self, workspace: Workspace) -> None:
        self.opened: list[tuple[object, int]] = []
        self.closed: list[object] = []
        self.current: list[object] = []
        self.failed: list[str] = []
        workspace.opened.connect(lambda session, index: self.opened.append((session, index)))
        workspace.closed.connect(self.closed.append)
        workspace.current_changed.connect(self.current.append)
        workspace.save_failed.connect(self.failed.append)


@pytest.fixture
def heard(workspace) -> Heard:
    return Heard(workspace)


def with_text(workspace: Workspace, *texts: str) -> list:
    """Tabs that are worth keeping."""
    sessions = [workspace.new_chat() for _ in texts]
    for session, text in zip(sessions, texts, strict=True):
        session.draft = text
    return sessions


def saved(*chats: Chat, current: str | None = None, closed: tuple[ClosedTab, ...] = ()) -> SavedWorkspace:
    gone = {tab.chat_id for tab in closed}
    tabs = Tabs(tuple(chat.id for chat in chats if chat.id not in gone), current, closed)
    return SavedWorkspace(tabs, {chat.id: SavedChat(chat, f"draft of {chat.id}") for chat in chats})


async def restore(workspace: Workspace) -> None:
    """With the turns of the chats that are shown."""
    await workspace.restore()
    await tasks.finish_all()


async def test_a_new_chat_opens_at_the_end_and_is_current(qloop, workspace, heard) -> None:
    one, two = workspace.new_chat(), workspace.new_chat()

    assert workspace.sessions == (one, two)
    assert workspace.current is two
    assert heard.opened == [(one, 0), (two, 1)]
    assert heard.current == [one, two]


async def test_a_closed_chat_is_answered_to_the_end_and_then_its_cells_are_freed(
    qloop, workspace, thread, heard
) -> None:
    one, two = workspace.new_chat(), workspace.new_chat()
    one.send("count")
    one.send("and on")
    thread.answer(thread.submitted[0], "1 2 3")
    workspace.close(one)
    assert (workspace.sessions, workspace.closed_at_work, heard.closed) == ((two,), (one,), [one])

    thread.answer(thread.submitted[0], " 4", FinishReason.STOP)
    await tasks.finish_all()
    assert (thread.aborted, thread.forgotten) == ([], [])  # it has another question
    thread.answer(thread.submitted[1], "5", FinishReason.STOP)
    await until(lambda: not workspace.closed_at_work)
    assert [turn.text for turn in one.chat.turns] == ["count", "1 2 3 4", "and on", "5"]
    assert thread.forgotten == [one.chat.id]


async def test_a_chat_that_comes_back_is_still_being_answered(qloop, workspace, thread) -> None:
    one, two = workspace.new_chat(), workspace.new_chat()
    one.send("count")
    back: list[tuple[object, int]] = []
    workspace.came_back.connect(lambda session, index: back.append((session, index)))
    workspace.close(one)
    assert workspace.reopen() is one
    workspace.close(one)
    assert await workspace.open_saved(one.chat.id) is one
    assert back == [(one, 0), (one, 1)]
    assert workspace.sessions == (two, one)

    thread.answer(thread.submitted[0], "1 2 3", FinishReason.STOP)
    await tasks.finish_all()
    assert (one.chat.turns[-1].state, thread.forgotten) == (TurnState.DONE, [])
    one.send("go on")
    assert one.is_busy


async def test_the_answer_of_a_chat_that_is_given_up_is_stopped(qloop, workspace, thread) -> None:
    open_, closed = workspace.new_chat(), workspace.new_chat()
    for session in (open_, closed):
        session.send("count")
    workspace.close(closed)
    for session in (open_, closed):
        workspace.discard(session.chat.id)
    await until(lambda: not workspace.closed_at_work)
    assert sorted(thread.forgotten) == sorted((open_.chat.id, closed.chat.id))
    assert not workspace.can_reopen


async def test_an_answer_that_the_end_of_the_program_cuts_off_stays_on_disk_as_being_written(
    qloop, workspace, thread, store
) -> None:
    one, _two = workspace.new_chat(), workspace.new_chat()
    one.send("count")
    thread.answer(thread.submitted[0], "1 2 3")
    workspace.close(one)
    workspace.break_off()
    thread.answer(thread.submitted[0], "", FinishReason.ABORT)  # the engine ends
    await workspace.shut_down()
    turns = {turn.id: turn for changes, _ in store.saves for change in changes for turn in change.turns}
    last = turns[one.chat.turns[-1].id]
    assert (last.text, last.state) == ("1 2 3", TurnState.STREAMING)


async def test_closing_another_tab_leaves_the_current_one(qloop, workspace) -> None:
    one, two = with_text(workspace, "a", "b")
    workspace.close(one)
    assert workspace.current is two


async def test_closing_the_last_tab_leaves_an_empty_new_one(qloop, workspace, heard) -> None:
    (one,) = with_text(workspace, "a")
    workspace.close(one)

    (fresh,) = workspace.sessions
    assert fresh is not one
    assert fresh.is_blank
    assert workspace.current is fresh


async def test_reopening_brings_back_what_was_closed_last_where_it_stood(
    qloop, workspace, thread, heard
) -> None:
    one, two, three = with_text(workspace, "a", "b", "c")
    two.send("2+2=")
    thread.answer(thread.submitted[0], "4", FinishReason.STOP)
    workspace.close(one)
    workspace.close(two)
    again = workspace.reopen()

    assert again.chat is two.chat
    assert workspace.sessions == (again, three)
    assert workspace.current is again
    first_again = workspace.reopen()
    assert (first_again.chat, first_again.draft) == (one.chat, "a")
    assert workspace.sessions == (first_again, again, three)
    assert not workspace.can_reopen
    assert workspace.reopen() is None


async def test_a_reopened_chat_answers_again(qloop, workspace, thread) -> None:
    one, _two = workspace.new_chat(), workspace.new_chat()
    one.send("count")
    thread.answer(thread.submitted[0], "1 2 3", FinishReason.STOP)
    workspace.close(one)
    again = workspace.reopen()
    assert again is not one
    again.send("go on")
    thread.answer(thread.submitted[1], "4 5 6", FinishReason.STOP)

    assert again.chat.turns[-1].text == "4 5 6"


async def test_an_empty_tab_is_not_worth_reopening(qloop, workspace) -> None:
    workspace.new_chat()
    workspace.close(workspace.new_chat())
    assert not workspace.can_reopen


async def test_the_last_twenty_can_be_reopened(qloop, workspace) -> None:
    sessions = with_text(workspace, *(str(number) for number in range(MAX_CLOSED + 5)))
    for session in sessions:
        workspace.close(session)
    drafts = []
    while workspace.can_reopen:
        drafts.append(workspace.reopen().draft)
    assert drafts == [str(number) for number in reversed(range(5, MAX_CLOSED + 5))]


async def test_the_current_tab_is_the_engines_front(qloop, workspace, thread) -> None:
    one, two = with_text(workspace, "a", "b")
    assert thread.front == two.chat.id
    workspace.set_current(one)
    assert thread.front == one.chat.id
    workspace.close(one)
    assert thread.front == two.chat.id


async def test_a_new_chat_does_as_the_settings_say_when_it_is_full(qloop, workspace, settings) -> None:
    settings.overflow = "truncate_middle"
    assert workspace.new_chat().chat.overflow is Overflow.TRUNCATE_MIDDLE


async def test_a_fork_opens_beside_its_original_with_copies_of_its_turns_and_its_cells(
    qloop, workspace, thread, store
) -> None:
    one, _two = with_text(workspace, "", "b")
    one.send("2+2=")
    thread.answer(thread.submitted[0], "4", FinishReason.STOP)
    one.draft = "half a thou"
    fork = workspace.fork(one)

    assert workspace.sessions[1] is fork
    assert workspace.current is fork
    assert thread.forked == [(one.chat.id, fork.chat.id)]
    assert [turn.text for turn in fork.chat.turns] == ["2+2=", "4"]
    assert (fork.draft, one.draft) == ("", "half a thou")
    await workspace.shut_down()
    kept = {change.chat.id: change for changes, _ in store.saves for change in changes}
    assert [turn.text for turn in kept[fork.chat.id].turns] == ["2+2=", "4"]


async def test_the_engine_knows_a_fork_before_it_is_asked_to_answer_in_it(qloop, workspace, thread) -> None:
    one = workspace.new_chat()
    workspace.opened.connect(
        lambda session, _index: known.append(session.chat.id in dict(thread.forked).values())
    )
    known: list[bool] = []
    workspace.fork(one)
    assert known == [True]


async def test_a_fork_of_a_chat_that_is_answering_takes_the_question_as_its_draft(
    qloop, workspace, thread
) -> None:
    one = workspace.new_chat()
    one.send("2+2=")
    thread.answer(thread.submitted[0], "4", FinishReason.STOP)
    one.send("count")
    thread.answer(thread.submitted[1], "1 2")
    fork = workspace.fork(one)

    assert [turn.text for turn in fork.chat.turns] == ["2+2=", "4"]
    assert fork.draft == "count"
    assert one.is_busy
    thread.answer(thread.submitted[1], " 3", FinishReason.STOP)
    assert one.chat.turns[-1].text == "1 2 3"
    assert len(fork.chat.turns) == 2


async def test_the_files_of_a_question_that_is_being_answered_go_to_the_forks_draft(
    qloop, workspace, thread
) -> None:
    one = workspace.new_chat()
    files = (Attachment("notes.md", "The meeting is at ten."),)
    one.send("", files)
    fork = workspace.fork(one)
    assert (fork.chat.turns, fork.draft, fork.draft_attachments) == ([], "", files)


async def test_a_chat_that_was_closed_meanwhile_is_neither_shown_nor_forked(qloop, workspace, thread) -> None:
    """Somebody waited for its turns to come from the disk."""
    one, two = workspace.new_chat(), workspace.new_chat()
    one.rename("closed")
    workspace.close(one)
    workspace.show_beside(one)
    workspace.set_current(one)
    assert workspace.fork(one) is None
    assert (workspace.shown, workspace.current, workspace.sessions) == ((two,), two, (two,))


async def test_a_chat_can_be_forked_at_an_earlier_answer(qloop, workspace, thread) -> None:
    one = workspace.new_chat()
    for question, answer in (("a", "1"), ("b", "2")):
        one.send(question)
        thread.answer(thread.submitted[-1], answer, FinishReason.STOP)
    assert [turn.text for turn in workspace.fork(one, num_turns=2).chat.turns] == ["a", "1"]


async def test_the_tabs_of_the_last_run_come_back(qloop, workspace, store, heard) -> None:
    chats = [Chat(id=name, turns=[Turn(Role.USER, name)]) for name in ("a", "b", "c")]
    store.saved = saved(*chats, current="a", closed=(ClosedTab("c", 1),))
    await restore(workspace)

    assert [session.chat.id for session in workspace.sessions] == ["a", "b"]
    assert workspace.current.chat.id == "a"
    assert workspace.sessions[1].draft == "draft of b"
    assert [index for _session, index in heard.opened] == [0, 1]
    assert workspace.reopen().chat.id == "c"
    assert [session.chat.id for session in workspace.sessions] == ["a", "c", "b"]
    await tasks.finish_all()


async def test_without_a_last_run_there_is_one_empty_chat(qloop, workspace) -> None:
    await restore(workspace)
    assert [session.is_blank for session in workspace.sessions] == [True]
    assert workspace.current is workspace.sessions[0]


async def test_chats_that_cannot_be_read_are_told_and_replaced_by_an_empty_one(
    qloop, workspace, store, heard
) -> None:
    store.error = StorageError("The disk is gone.")
    await restore(workspace)
    assert heard.failed == ["The disk is gone."]
    assert [session.is_blank for session in workspace.sessions] == [True]


async def test_shutting_down_stops_what_is_written_and_saves_everything(
    qloop, workspace, store, thread
) -> None:
    one, two = workspace.new_chat(), workspace.new_chat()
    await workspace.restore()
    one.send("count")
    thread.answer(thread.submitted[0], "1 2")
    two.draft = "half a thou"
    await workspace.shut_down()

    kept = {change.chat.id: change for changes, _ in store.saves for change in changes}
    assert (kept[one.chat.id].turns[-1].text, kept[one.chat.id].turns[-1].state) == ("1 2", TurnState.STOPPED)
    assert kept[two.chat.id].draft == "half a thou"
    assert store.saves[-1][1] == Tabs((one.chat.id, two.chat.id), two.chat.id, shown=(two.chat.id,))


async def test_a_save_that_fails_is_told(qloop, workspace, store, thread, heard) -> None:
    store.error = StorageError("The disk is full.")
    workspace.new_chat().send("hello")
    while not heard.failed:
        await asyncio.sleep(0.001)
    assert heard.failed == ["The disk is full."]


async def test_a_fork_at_a_token_goes_on_beside_its_original_and_shares_its_cells(
    qloop, workspace, thread
) -> None:
    original = workspace.new_chat()
    original.send("2+2=")
    thread.answer(thread.submitted[0], "It is 4.", FinishReason.STOP)

    fork = workspace.fork_at(original, original.chat.turns[1], "It was", (5, 9))

    assert workspace.sessions == (original, fork)
    assert workspace.current is fork
    assert thread.forked == [(original.chat.id, fork.chat.id)]
    request = thread.submitted[-1]
    assert (request.chat_id, request.answer_start) == (fork.chat.id, (5, 9))
    thread.answer(request, " 4, I think.", FinishReason.STOP)
    assert [turn.text for turn in fork.chat.turns] == ["2+2=", "It was 4, I think."]
    assert [turn.text for turn in original.chat.turns] == ["2+2=", "It is 4."]
    workspace.close(fork)
    assert workspace.reopen().chat is fork.chat


async def test_a_chats_turns_come_from_the_disk_when_it_is_first_shown(qloop, workspace, store) -> None:
    store.saved = saved(Chat(id="a"), Chat(id="b"), current="a")
    store.turns = {name: SavedTurns([Turn(Role.USER, f"text of {name}")]) for name in "ab"}
    await restore(workspace)
    one, two = workspace.sessions
    await until(lambda: one.is_loaded)
    assert [turn.text for turn in one.chat.turns] == ["text of a"]
    assert not two.is_loaded
    assert not two.is_blank
    workspace.set_current(two)
    await until(lambda: two.is_loaded)
    assert [turn.text for turn in two.chat.turns] == ["text of b"]


async def test_what_is_sent_before_a_chat_is_there_is_sent_when_it_is(
    qloop, workspace, store, thread
) -> None:
    store.saved = saved(Chat(id="a"), current="a")
    store.turns = {"a": SavedTurns([Turn(Role.USER, "hello"), Turn(Role.ASSISTANT, "hi")])}
    await restore(workspace)
    (session,) = workspace.sessions
    session.send("and then?")
    await until(lambda: session.is_busy)
    assert [turn.text for turn in session.chat.turns] == ["hello", "hi", "and then?", ""]


async def test_a_tab_closed_before_its_turns_were_there_is_reopened_without_loss(
    qloop, workspace, store
) -> None:
    store.saved = saved(Chat(id="a"), Chat(id="b"), current="a")
    store.turns = {"b": SavedTurns([Turn(Role.USER, "text of b")])}
    await restore(workspace)
    workspace.close(workspace.sessions[1])
    again = workspace.reopen()
    await until(lambda: again.is_loaded)
    assert [turn.text for turn in again.chat.turns] == ["text of b"]


async def test_a_kept_chat_is_opened_once(qloop, workspace, store) -> None:
    store.saved = saved(Chat(id="a"))
    store.turns = {"a": SavedTurns([Turn(Role.USER, "text of a")])}
    first, second = await asyncio.gather(workspace.open_saved("a"), workspace.open_saved("a"))
    assert first is second is workspace.current
    assert [turn.text for turn in first.chat.turns] == ["text of a"]
    assert await workspace.open_saved("nobody") is None
    assert workspace.sessions == (first,)


async def test_a_saved_chat_is_coming_before_it_is_the_current_one(qloop, workspace, store) -> None:
    store.saved = saved(Chat(id="a"))
    said: list[tuple[str, str]] = []
    workspace.opened.connect(lambda session, _index: said.append(("opened", session.chat.id)))
    workspace.coming.connect(lambda session: said.append(("coming", session.chat.id)))
    workspace.current_changed.connect(lambda session: said.append(("current", session.chat.id)))
    await workspace.open_saved("a")
    assert said == [("opened", "a"), ("coming", "a"), ("current", "a")]
    await workspace.open_saved("a")  # it has its tab
    assert len(said) == 3


async def test_what_a_chat_was_when_it_was_closed_before_does_not_come_back(qloop, workspace, store) -> None:
    one, _two = workspace.new_chat(), workspace.new_chat()
    one.insert(Role.USER, "to be deleted")
    workspace.close(one)
    store.saved = saved(Chat(id=one.chat.id))
    again = await workspace.open_saved(one.chat.id)
    again.draft = ""
    assert again.is_blank  # all was deleted
    workspace.close(again)
    assert not workspace.can_reopen


async def test_a_chat_is_read_after_what_was_written_of_it(qloop, workspace, store, monkeypatch) -> None:
    """It was closed a moment ago."""
    one, _two = workspace.new_chat(), workspace.new_chat()
    one.rename("another title")
    workspace.close(one)
    titles: list[str] = []

    async def load_chat(_chat_id: str) -> None:
        titles.extend(change.chat.title for changes, _ in store.saves for change in changes)

    monkeypatch.setattr(store, "load_chat", load_chat)
    await workspace.open_saved(one.chat.id)
    assert "another title" in titles


class TestPinnedTabs:
    async def test_a_pinned_tab_goes_to_the_left_and_stays_there(self, qloop, workspace) -> None:
        one, two, three = with_text(workspace, "a", "b", "c")
        heard = []
        workspace.pinned.connect(lambda session, index: heard.append((session, index)))
        workspace.set_pinned(three, True)

        assert workspace.sessions == (three, one, two)
        assert heard == [(three, 0)]
        assert workspace.is_pinned(three)
        assert workspace.move(two, 0) == 1
        assert workspace.sessions == (three, two, one)

    async def test_they_are_kept(self, qloop, workspace, store) -> None:
        one, two = with_text(workspace, "a", "b")
        await workspace.restore()
        workspace.set_pinned(two, True)
        await workspace.shut_down()
        assert store.saves[-1][1].pinned == {two.chat.id}
        assert store.saves[-1][1].open == (two.chat.id, one.chat.id)


class TestSplitView:
    async def test_the_next_tab_is_shown_beside_and_current(self, qloop, workspace, thread) -> None:
        one, two = with_text(workspace, "a", "b")
        workspace.set_current(one)
        told = []
        workspace.shown_changed.connect(lambda: told.append(workspace.shown))
        workspace.split()

        assert told == [(one, two)]
        assert workspace.current is two
        assert thread.front == two.chat.id

    async def test_a_chat_alone_gets_a_new_one_beside_it(self, qloop, workspace) -> None:
        (one,) = with_text(workspace, "a")
        workspace.split()
        left, right = workspace.shown
        assert left is one
        assert right.is_blank

    async def test_it_is_there_again_after_a_restart(self, qloop, workspace, store) -> None:
        a, b, c = Chat(title="a"), Chat(title="b"), Chat(title="c")
        tabs = Tabs((a.id, b.id, c.id), a.id, (), frozenset((a.id,)), shown=(c.id, a.id))
        store.saved = SavedWorkspace(tabs, {chat.id: SavedChat(chat) for chat in (a, b, c)})
        await restore(workspace)
        assert [session.chat.title for session in workspace.shown] == ["c", "a"]
        assert workspace.current.chat is a
        assert workspace.is_pinned(workspace.current)
        await workspace.shut_down()
        assert (store.saves[-1][1].shown, store.saves[-1][1].pinned) == ((c.id, a.id), {a.id})


async def test_tabs_that_are_held_back_stay_on_disk_until_they_are_asked_for(qloop, workspace, store) -> None:
    store.saved = saved(Chat("a", turns=[Turn(Role.USER, "a")]), Chat("b"), current="b")
    workspace.start_without_tabs()
    (fresh,) = workspace.sessions
    fresh.draft = "something new"
    await workspace.autosave.flush()
    assert [tabs for _, tabs in store.saves] == [None]

    await restore(workspace)
    assert [session.chat.id for session in workspace.sessions] == [fresh.chat.id, "a", "b"]
    await workspace.autosave.flush()
    assert store.saves[-1][1].open == (fresh.chat.id, "a", "b")


async def test_the_empty_chat_makes_way_for_tabs_that_were_held_back(qloop, workspace, store) -> None:
    store.saved = saved(Chat("a", turns=[Turn(Role.USER, "a")]), current="a")
    workspace.start_without_tabs()
    await restore(workspace)
    assert [session.chat.id for session in workspace.sessions] == ["a"]


async def test_a_chat_opened_before_the_tabs_of_the_last_run_stays_in_front_of_them(
    qloop, workspace, store
) -> None:
    store.saved = saved(Chat("a", turns=[Turn(Role.USER, "a")]), Chat("b"), current="b")
    early = workspace.new_chat()
    await workspace.autosave.flush()
    assert all(tabs is None for _, tabs in store.saves)
    await restore(workspace)
    assert [session.chat.id for session in workspace.sessions] == [early.chat.id, "a", "b"]
    assert workspace.current is early


async def test_tabs_that_cannot_be_read_are_not_replaced_by_none(qloop, workspace, store, heard) -> None:
    store.error = StorageError("Not readable.")
    await restore(workspace)
    store.error = None
    workspace.sessions[0].draft = "something new"
    await workspace.autosave.flush()
    assert heard.failed == ["Not readable."]
    assert [tabs for _, tabs in store.saves] == [None]


async def test_after_the_last_save_nothing_more_is_written(qloop, workspace, store, thread) -> None:
    session = workspace.new_chat()
    session.send("count")
    thread.answer(thread.submitted[0], "1 2")
    await workspace.stop_saving()
    num_saves = len(store.saves)
    assert store.saves[-1][0][0].turns[-1].state is TurnState.STOPPED
    session.draft = "lost on purpose"
    await workspace.shut_down()
    assert len(store.saves) == num_saves

    workspace.autosave.resume()
    await workspace.autosave.flush()
    assert store.saves[-1][0][0].draft == "lost on purpose"


async def test_of_a_long_chat_the_end_is_shown_first_and_stays_as_it_is(qloop, workspace, store) -> None:
    chat = Chat(id="a", turns=[Turn(Role.USER, str(number)) for number in range(1_000)])
    store.saved = SavedWorkspace(
        Tabs(("a",), "a"), {"a": SavedChat(Chat(id="a"), leaf_id=chat.turns[-1].id, num_turns=1_000)}
    )
    store.turns = {"a": SavedTurns([replace(turn) for turn in chat.turns])}
    store.ends = {"a": chat.turns[-NUM_END_TURNS:]}
    rest_may_come, load_turns = asyncio.Event(), store.load_turns

    async def load_later(kept: SavedChat) -> SavedTurns:
        await rest_may_come.wait()
        return await load_turns(kept)

    store.load_turns = load_later
    shown: list[int] = []
    workspace.opened.connect(
        lambda session, _index: session.changed.connect(lambda: shown.append(len(session.chat.turns)))
    )
    await workspace.restore()
    (session,) = workspace.sessions
    await until(lambda: shown)
    last = session.chat.turns[-1]
    session.edit(last, "too early")  # nothing is rewritten before all of it is there
    assert session.leaf_id == last.id
    rest_may_come.set()
    await until(lambda: session.is_loaded)
    assert shown == [NUM_END_TURNS, 1_000]
    assert [turn.text for turn in session.chat.turns] == [str(number) for number in range(1_000)]
    assert session.chat.turns[-1] is last


async def test_a_draft_written_before_a_chat_is_there_leaves_its_version_as_it_is(
    qloop, workspace, store
) -> None:
    store.saved = SavedWorkspace(
        Tabs(("a", "b"), "a"), {name: SavedChat(Chat(id=name), leaf_id=f"leaf of {name}") for name in "ab"}
    )
    await workspace.restore()
    await until(lambda: workspace.sessions[0].is_loaded)
    workspace.sessions[1].draft = "half a thou"
    await workspace.autosave.flush()
    (change,) = (change for changes, _tabs in store.saves for change in changes if change.chat.id == "b")
    assert (change.leaf_id, change.draft) == ("leaf of b", "half a thou")


async def test_a_chat_that_is_not_loaded_yet_is_forked_with_all_its_turns(qloop, workspace, store) -> None:
    store.saved = saved(Chat(id="a"), Chat(id="b"), current="a")
    store.turns = {name: SavedTurns([Turn(Role.USER, f"text of {name}")]) for name in "ab"}
    await workspace.restore()
    await until(lambda: workspace.sessions[0].is_loaded)
    assert workspace.fork(workspace.sessions[1]) is None
    await until(lambda: len(workspace.sessions) == 3)
    assert [turn.text for turn in workspace.sessions[2].chat.turns] == ["text of b"]


async def test_a_chat_that_is_closed_and_opened_again_while_it_is_read_gets_its_turns(
    qloop, workspace, store
) -> None:
    store.saved = saved(Chat(id="a"), Chat(id="b"), current="a")
    store.turns = {name: SavedTurns([Turn(Role.USER, f"text of {name}")]) for name in "ab"}
    await workspace.restore()
    before = workspace.sessions[1]
    workspace.set_current(before)  # which reads it
    await asyncio.sleep(0)
    workspace.close(before)
    again = workspace.reopen()
    await tasks.finish_all()
    assert again.is_loaded
    assert [turn.text for turn in again.chat.turns] == ["text of b"]
    assert not before.is_loaded


async def test_a_chat_that_was_only_set_up_is_there_at_the_next_start(
    qloop, engine, settings, tmp_path: Path
) -> None:
    store = ChatStore(tmp_path / "chats.db")
    await store.open()
    first = Workspace(engine, store, settings)
    await first.restore()
    session = first.new_chat()
    first.new_chat()  # which nothing was done with
    replace(ChatOptions.of(session.chat), system_prompt="Be brief.").apply_to(session.chat)
    session.emit_settings_changed()
    session.drafts.put((session.chat.id, "schema"), '{"type": ')
    await first.shut_down()

    second = Workspace(engine, store, settings)
    await second.restore()
    (kept,) = second.sessions
    assert kept.chat.system_prompt == "Be brief."
    assert second.drafts.text((kept.chat.id, "schema")) == '{"type": '
    assert not kept.is_blank
    second.close(kept)
    assert second.reopen() is not None
    await second.shut_down()
    await store.close()


class TestPreviews:
    @pytest.fixture(autouse=True)
    def chats(self, qloop, store) -> None:
        store.saved = saved(*(Chat(id=name) for name in "abcd"))
        store.saved = replace(store.saved, tabs=Tabs(("a",), "a"))
        store.turns = {name: SavedTurns([Turn(Role.USER, f"text of {name}")]) for name in "abcd"}

    async def look_at(self, workspace: Workspace, *chat_ids: str) -> None:
        if not workspace.sessions:
            await restore(workspace)
        for chat_id in chat_ids:
            await workspace.open_saved(chat_id, is_looked_at=True)

    @staticmethod
    def tabs(workspace: Workspace) -> str:
        """Their names in order, those of previews in brackets."""
        names = (f"({each.chat.id})" if each.is_preview else each.chat.id for each in workspace.sessions)
        return " ".join(names)

    async def test_the_next_chat_that_is_looked_at_takes_the_tab(self, workspace) -> None:
        await self.look_at(workspace, "b", "c", "d")
        assert self.tabs(workspace) == "a (d)"
        assert workspace.current.chat.id == "d"
        assert not workspace.can_reopen

    async def test_a_chat_with_a_tab_is_shown_there_and_the_preview_stays(self, workspace) -> None:
        await self.look_at(workspace, "b", "a")
        assert (self.tabs(workspace), workspace.current.chat.id) == ("a (b)", "a")

    async def test_opening_it_keeps_it(self, workspace) -> None:
        kept: list[str] = []
        workspace.kept.connect(lambda session: kept.append(session.chat.id))
        await self.look_at(workspace, "b")
        await workspace.open_saved("b")
        await self.look_at(workspace, "c")
        assert (self.tabs(workspace), kept) == ("a b (c)", ["b"])

    async def test_the_second_click_keeps_it_also_while_the_first_is_at_work(self, workspace) -> None:
        await restore(workspace)
        await asyncio.gather(self.look_at(workspace, "b"), workspace.open_saved("b"))
        assert self.tabs(workspace) == "a b"

    async def test_of_two_clicks_in_a_row_the_later_one_wins(self, workspace) -> None:
        await restore(workspace)
        await asyncio.gather(self.look_at(workspace, "b"), self.look_at(workspace, "c"))
        assert (self.tabs(workspace), workspace.current.chat.id) == ("a (c)", "c")

    @pytest.mark.parametrize(
        "use",
        [
            lambda workspace, chat: chat.send("more"),
            lambda workspace, chat: setattr(chat, "draft", "mo"),
            lambda workspace, chat: chat.edit_answer(chat.chat.turns[0], "other words"),
            lambda workspace, chat: workspace.drafts.put((chat.chat.id, "turn"), "other wor"),
            lambda workspace, chat: chat.rename("B"),
            lambda workspace, chat: chat.place(is_pinned=True),
            lambda workspace, chat: workspace.set_pinned(chat, True),
            lambda workspace, chat: workspace.move(chat, 0),
            lambda workspace, chat: workspace.split(),
            lambda workspace, chat: workspace.show_beside(workspace.sessions[0]),
            lambda workspace, chat: workspace.fork(chat),
        ],
    )
    async def test_what_is_used_is_kept(self, workspace, use) -> None:
        await self.look_at(workspace, "b")
        use(workspace, workspace.current)
        await self.look_at(workspace, "c")
        assert "b" in self.tabs(workspace).split()

    async def test_one_that_is_shown_beside_the_next_is_kept(self, workspace) -> None:
        await restore(workspace)
        workspace.split()
        await self.look_at(workspace, "b")
        other = next(each for each in workspace.shown if each is not workspace.current)
        workspace.set_current(other)
        await self.look_at(workspace, "c")
        assert [each.chat.id for each in workspace.shown if not each.is_preview] == ["b"]

    async def test_one_that_is_closed_can_be_reopened_and_is_kept_then(self, workspace) -> None:
        await self.look_at(workspace, "b")
        workspace.close(workspace.current)
        workspace.reopen()
        assert self.tabs(workspace) == "a b"

    async def test_a_draft_of_an_earlier_time_goes_and_comes_with_it(self, workspace, store) -> None:
        await self.look_at(workspace, "b", "c", "b")
        assert workspace.current.draft == "draft of b"
        assert self.tabs(workspace) == "a (b)"

    async def test_after_a_restart_it_is_a_tab_as_any(self, workspace, store) -> None:
        await self.look_at(workspace, "b")
        await workspace.autosave.flush()
        assert store.saves[-1][1].open == ("a", "b")


class TestMovedOut:
    async def test_it_keeps_its_place_among_the_saved_tabs_and_another_is_shown(
        self, qloop, workspace, store
    ) -> None:
        store.saved = saved(Chat(id="a"), Chat(id="b"), current="a")
        await restore(workspace)
        one, two = workspace.sessions
        told: list[object] = []
        workspace.moved_out.connect(told.append)
        workspace.move_out(one)
        workspace.move_out(one)
        await workspace.autosave.flush()
        assert (workspace.shown, told) == ((two,), [one])
        assert store.saves[-1][1].open == (one.chat.id, two.chat.id)
        workspace.move_back(one)
        assert (workspace.sessions, workspace.current) == ((one, two), one)

    async def test_showing_it_calls_its_window_and_leaves_what_is_shown(self, qloop, workspace) -> None:
        one, two = with_text(workspace, "one", "two")
        workspace.move_out(one)
        called: list[object] = []
        workspace.called.connect(called.append)
        workspace.set_current(one)
        await workspace.open_saved(one.chat.id)
        assert (called, workspace.current) == ([one, one], two)

    async def test_the_last_tab_leaves_an_empty_chat(self, qloop, workspace) -> None:
        (one,) = with_text(workspace, "one")
        workspace.move_out(one)
        assert workspace.current.is_blank
        workspace.close(workspace.current)
        assert workspace.current.is_blank
        assert workspace.sessions[0] is one

    async def test_one_that_is_closed_is_reopened_as_a_tab(self, qloop, workspace) -> None:
        one, two = with_text(workspace, "one", "two")
        workspace.move_out(one)
        workspace.close(one)
        assert workspace.sessions == (two,)
        assert workspace.reopen() is workspace.current

    async def test_shown_beside_another_it_is_back(self, qloop, workspace) -> None:
        one, two = with_text(workspace, "one", "two")
        workspace.move_out(one)
        workspace.show_beside(one)
        assert (workspace.shown, workspace.is_out(one)) == ((two, one), False)

    async def test_one_that_was_never_shown_is_loaded(self, qloop, workspace, store) -> None:
        store.saved = saved(Chat(id="a"), Chat(id="b"), current="a")
        store.turns = {name: SavedTurns([Turn(Role.USER, f"text of {name}")]) for name in "ab"}
        await restore(workspace)
        workspace.move_out(workspace.sessions[1])
        await tasks.finish_all()
        assert workspace.sessions[1].is_loaded
