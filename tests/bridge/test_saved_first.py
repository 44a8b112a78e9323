"""A message is on disk before the engine sees it, or the user has been told that it is not."""

import asyncio

import pytest

from app.chats.chat import TurnState
from app.storage.chat_store import NO_DRAFTS
from app.storage.errors import StorageError
from tests.bridge.conftest import until


@pytest.fixture
def asks_at_once() -> None:
    """Not here."""


class SlowDisk:
    """Ends a write when it is told to."""

    def __init__(self, store) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self._save, store.save = store.save, self.save

    async def save(self, changes, tabs=None, drafts=NO_DRAFTS) -> None:
        self.begun.set()
        await self.may_end.wait()
        await self._save(changes, tabs)


async def test_the_engine_sees_a_message_when_it_is_on_disk(qloop, workspace, store, thread) -> None:
    disk = SlowDisk(store)
    session = workspace.new_chat()
    session.send("2+2=")
    await disk.begun.wait()
    assert session.chat.turns[0].text == "2+2="  # the user sees it at once
    assert thread.submitted == []

    disk.may_end.set()
    await until(lambda: thread.submitted)
    assert [turn.text for turn in store.saves[0][0][0].turns] == ["2+2=", ""]


async def test_when_it_cannot_be_saved_that_is_told_before_it_is_answered(
    qloop, workspace, store, thread
) -> None:
    told: list[int] = []
    workspace.save_failed.connect(lambda _message: told.append(len(thread.submitted)))
    store.error = StorageError("The disk is full.")
    workspace.new_chat().send("2+2=")
    await until(lambda: thread.submitted)
    assert told == [0]


async def test_the_ways_to_answer_a_message_reach_the_engine_in_their_order(qloop, workspace, thread) -> None:
    session = workspace.new_chat()
    session.send("2+2=")
    session.stop()
    session.answer_in_ways(3)
    await until(lambda: len(thread.submitted) == 3)
    assert [request.request_id for request in thread.submitted] == list(session.answers.request_ids)


async def test_what_is_stopped_before_it_was_saved_never_reaches_the_engine(
    qloop, workspace, store, thread
) -> None:
    disk = SlowDisk(store)
    session = workspace.new_chat()
    session.send("2+2=")
    session.stop()
    assert not session.is_busy
    assert session.chat.turns[-1].state is TurnState.STOPPED
    disk.may_end.set()
    await workspace.shut_down()
    assert thread.submitted == []


async def test_a_tab_closed_meanwhile_asks_nothing(qloop, workspace, store, thread) -> None:
    disk = SlowDisk(store)
    session = workspace.new_chat()
    session.send("2+2=")
    await disk.begun.wait()
    workspace.close(session)
    disk.may_end.set()
    await workspace.shut_down()
    assert thread.submitted == []
    assert [turn.text for turn in store.saves[-1][0][0].turns][:1] in ([""], ["2+2="])
