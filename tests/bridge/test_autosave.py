import asyncio

import pytest

from app.bridge import autosave
from app.chats.chat import TurnState
from app.protocol.output import FinishReason
from app.protocol.request import Overflow, Role
from app.storage.chat_store import NO_DRAFTS
from app.storage.errors import StorageError
from tests.bridge.conftest import until

PATIENCE_S = 10  # with a thread


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autosave, "SAVE_INTERVAL_MS", 5)
    monkeypatch.setattr(autosave, "RETRY_INTERVAL_MS", 5)
    monkeypatch.setattr(autosave, "SAVE_WITHIN_S", 0.005)


def texts_of(save) -> list[list[str]]:
    changes, _tabs = save
    return [[turn.text for turn in change.turns] for change in changes]


async def test_a_message_is_saved_when_it_is_sent(qloop, workspace, store, thread, monkeypatch) -> None:
    monkeypatch.setattr(autosave, "SAVE_INTERVAL_MS", 60_000)
    workspace.new_chat().send("2+2=")
    await until(lambda: store.saves)
    assert texts_of(store.saves[0]) == [["2+2=", ""]]
    assert store.saves[0][0][0].turns[1].state is TurnState.STREAMING


async def test_while_an_answer_is_written_only_it_is_saved_again(qloop, workspace, store, thread) -> None:
    session = workspace.new_chat()
    session.send("count")
    await until(lambda: store.saves)
    thread.answer(thread.submitted[0], "1 2")
    assert [turn.text for turn in store.grown.get(timeout=PATIENCE_S)] == ["1 2"]
    thread.answer(thread.submitted[0], " 3", FinishReason.STOP)
    await until(lambda: len(store.saves) == 2)

    assert texts_of(store.saves[1]) == [["1 2 3"]]
    session.send("more")
    await until(lambda: len(store.saves) == 3)
    assert texts_of(store.saves[2]) == [["more", ""]]


async def test_the_words_of_an_answer_are_saved_while_the_loop_is_held_up(
    qloop, workspace, store, thread
) -> None:
    workspace.new_chat().send("count")
    await until(lambda: thread.submitted)
    thread.answer(thread.submitted[0], "1 2")
    # The loop does not come round from here on.
    assert [turn.text for turn in store.grown.get(timeout=PATIENCE_S)] == ["1 2"]
    thread.answer(thread.submitted[0], " 3", FinishReason.STOP)
    (ended,) = store.grown.get(timeout=PATIENCE_S)
    if ended.state is TurnState.STREAMING:  # its last word was written before its end was known
        (ended,) = store.grown.get(timeout=PATIENCE_S)
    assert (ended.text, ended.state) == ("1 2 3", TurnState.DONE)


async def test_an_answer_that_is_asked_for_again_is_written_again(qloop, workspace, store, thread) -> None:
    session = workspace.new_chat()
    session.send("far too long")
    thread.answer(thread.submitted[0], "", FinishReason.ERROR, "too long", found_no_room=True)
    await until(lambda: store.saves and store.saves[-1][0][0].turns[-1].state is TurnState.FAILED)
    store.saves.clear()
    session.keep_going()
    await until(lambda: store.saves)

    (change,) = store.saves[-1][0]
    assert [(turn.text, turn.state) for turn in change.turns] == [("", TurnState.STREAMING)]


async def test_the_limits_of_a_chat_are_saved_soon(qloop, workspace, store) -> None:
    session = workspace.new_chat()
    session.set_limits(Overflow.ROLLING_WINDOW, 512)
    await until(lambda: any(changes for changes, _ in store.saves))
    chat = store.saves[-1][0][0].chat
    assert (chat.overflow, chat.max_context_tokens) == (Overflow.ROLLING_WINDOW, 512)


async def test_when_the_session_ends_all_is_on_disk_before_the_loop_comes_round(
    qloop, workspace, store, thread, monkeypatch
) -> None:
    monkeypatch.setattr(autosave, "SAVE_INTERVAL_MS", 60_000)
    session = workspace.new_chat()
    await workspace.restore()
    session.draft = "half a thou"
    workspace.autosave.save_and_wait()
    ((change,), tabs) = store.saves[-1]
    assert change.draft == "half a thou"
    assert tabs.open == (session.chat.id,)
    store.saves.clear()
    await workspace.autosave.flush()
    assert not store.saves, "it would be written twice"


async def test_what_could_not_be_saved_at_the_end_of_the_session_is_tried_again(
    qloop, workspace, store, thread, monkeypatch
) -> None:
    monkeypatch.setattr(autosave, "SAVE_INTERVAL_MS", 60_000)
    workspace.new_chat().draft = "half a thou"
    store.error = StorageError("The disk is full.")
    workspace.autosave.save_and_wait()
    store.error = None
    await workspace.autosave.flush()
    ((change,), _tabs) = store.saves[-1]
    assert change.draft == "half a thou"


async def test_many_streaming_tabs_are_saved_in_one_write(
    qloop, workspace, store, thread, monkeypatch
) -> None:
    sessions = [workspace.new_chat() for _ in range(5)]
    for session in sessions:
        session.send("count")
    await until(lambda: len(thread.submitted) == 5)
    monkeypatch.setattr(autosave, "SAVE_WITHIN_S", 0.1)
    for request in thread.submitted:
        thread.answer(request, "1 ")
    assert len(store.grown.get(timeout=PATIENCE_S)) == 5


async def test_words_that_cannot_be_saved_are_told_of_and_tried_again(
    qloop, workspace, store, thread
) -> None:
    told: list[str] = []
    workspace.save_failed.connect(told.append)
    recovered: list[bool] = []
    workspace.save_recovered.connect(lambda: recovered.append(True))
    workspace.new_chat().send("count")
    await until(lambda: store.saves)
    store.error = StorageError("The disk is full.")
    thread.answer(thread.submitted[0], "1 2")
    await until(lambda: told)
    thread.answer(thread.submitted[0], " 3")
    store.saves.clear()
    store.error = None
    await until(lambda: recovered)
    assert told == ["The disk is full."]
    assert texts_of(store.saves[-1]) == [["1 2 3"]]
    assert store.grown.empty()


async def test_nothing_is_written_when_nothing_changed(qloop, workspace, store) -> None:
    await workspace.shut_down()
    assert store.saves == []


async def test_a_failed_save_is_tried_again_and_told_once(qloop, workspace, store, thread) -> None:
    told: list[str] = []
    workspace.save_failed.connect(told.append)
    attempts: list[int] = []
    save = store.save

    async def counted(changes, tabs=None, drafts=NO_DRAFTS) -> None:
        attempts.append(1)
        await save(changes, tabs)

    store.save = counted
    session = workspace.new_chat()
    await workspace.restore()
    store.error = StorageError("The disk is full.")
    session.send("hello")
    await until(lambda: len(attempts) >= 3)
    assert told == ["The disk is full."]
    assert workspace.autosave.why_not == "The disk is full."

    recovered: list[int] = []
    workspace.save_recovered.connect(lambda: recovered.append(len(store.saves)))
    store.error = None
    await until(lambda: store.saves)
    assert texts_of(store.saves[-1]) == [["hello", ""]]
    await until(lambda: recovered)
    assert recovered == [1]
    assert workspace.autosave.why_not == ""
    assert store.saves[-1][1] is not None

    store.error = StorageError("Full again.")
    thread.answer(thread.submitted[0], "hi", FinishReason.STOP)
    await until(lambda: len(told) == 2)
    store.error = None  # or it is tried again when the loop of this test has ended
    await until(lambda: len(recovered) == 2)


async def test_what_changes_during_a_write_is_in_the_next(qloop, workspace, store, thread) -> None:
    session = workspace.new_chat()
    begun, go_on = asyncio.Event(), asyncio.Event()
    save = store.save

    async def slow(changes, tabs=None, drafts=NO_DRAFTS) -> None:
        begun.set()
        await go_on.wait()
        await save(changes, tabs)

    store.save = slow
    session.send("count")
    await begun.wait()
    thread.answer(thread.submitted[0], "1", FinishReason.STOP)
    go_on.set()
    await workspace.shut_down()

    assert texts_of(store.saves[0]) == [["count", ""]]
    assert texts_of(store.saves[-1]) == [["1"]]
    assert store.saves[-1][0][0].turns[0].state is TurnState.DONE


async def test_what_changes_during_a_write_that_fails_is_in_the_next(qloop, workspace, store, thread) -> None:
    session = workspace.new_chat()
    begun, go_on = asyncio.Event(), asyncio.Event()
    save = store.save

    async def failing(changes, tabs=None, drafts=NO_DRAFTS) -> None:
        store.save = save
        begun.set()
        await go_on.wait()
        raise StorageError("The disk is full.")

    store.save = failing
    session.insert(Role.USER, "2+2=")
    await begun.wait()
    session.insert(Role.ASSISTANT, "4")
    go_on.set()
    await until(lambda: store.saves)
    assert texts_of(store.saves[0]) == [["2+2=", "4"]]


async def test_a_turn_that_was_deleted_and_brought_back_is_written_again(
    qloop, workspace, store, thread
) -> None:
    session = workspace.new_chat()
    session.send("2+2=")
    thread.answer(thread.submitted[0], "4", FinishReason.STOP)
    await workspace.autosave.flush()
    question = session.chat.turns[0]
    removed = session.delete(question)
    await until(lambda: store.saves[-1][0][0].removed)
    assert store.saves[-1][0][0].removed == (question.id,)
    assert texts_of(store.saves[-1]) == [["4"]]  # it follows no session now
    session.undelete(removed)
    await until(lambda: not store.saves[-1][0][0].removed)
    assert texts_of(store.saves[-1]) == [["2+2=", "4"]]


async def test_what_a_failed_write_held_is_in_the_next_with_what_changed_since(
    qloop, workspace, store, thread
) -> None:
    session = workspace.new_chat()
    store.error = StorageError("The disk is full.")
    session.send("2+2=")
    session.close()
    await workspace.autosave.flush()
    session.insert(Role.USER, "later")
    store.error = None
    await until(lambda: store.saves)
    assert texts_of(store.saves[0]) == [["2+2=", "", "later"]]


async def test_a_draft_is_saved_soon(qloop, workspace, store) -> None:
    session = workspace.new_chat()
    session.draft = "half a thou"
    await until(lambda: any(changes for changes, _ in store.saves))
    assert store.saves[-1][0][0].draft == "half a thou"


async def test_an_answer_that_grows_is_written_without_its_chat(qloop, workspace, store, thread) -> None:
    session = workspace.new_chat()
    session.send("count")
    await until(lambda: store.saves and thread.submitted)
    store.saves.clear()
    thread.answer(thread.submitted[0], "1 2")
    await workspace.autosave.flush()
    (change,) = store.saves[0][0]
    assert (change.is_chat_itself, change.chat.id) == (False, session.chat.id)
    assert texts_of(store.saves[0]) == [["1 2"]]
