"""Calls of tools on disk: they come back, are found, and a damaged one costs no word of the answer."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.chats.chat import Chat, Turn, TurnState
from app.chats.exports.skein import as_text
from app.chats.imports.skein import chat_of
from app.chats.tasks import DELEGATE, task_turns, tasks_of
from app.chats.thinking import Split
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.output import Usage
from app.protocol.request import Role
from app.storage.chat_rows import DAMAGED, ChatChange
from app.storage.chat_store import ChatStore
from app.storage.list_rows import Tabs
from app.storage.search import FOUND_END, FOUND_START


def asked(state: ToolState = ToolState.DONE) -> Chat:
    use = ToolUse("c1", "look_up", '{"city": "Kraków"}', state, "Invoice 4711", 1.5)
    usage = Usage(num_prompt_tokens=9, num_computed_tokens=7)
    round_ = ToolRound("Hm. «look_up»", "Let me see.", "Hm.", [use], True, 0.5, usage)
    answer = Turn(Role.ASSISTANT, "It is paid.", model="starter", rounds=[round_])
    answer.reading = Split("Well.", "It is paid.")
    return Chat("c", turns=[Turn(Role.USER, "Is it paid?"), answer], tools=("skein/time", "files/*"))


async def save(path: Path, chat: Chat) -> None:
    store = ChatStore(path)
    await store.open()
    await store.save([ChatChange.of(chat)], Tabs(("c",), "c"))
    await store.close()


async def load(path: Path) -> Chat:
    store = ChatStore(path)
    assert await store.open() == ""
    kept = (await store.load()).chats["c"]
    kept.chat.turns = (await store.load_turns(kept)).shown
    await store.close()
    return kept.chat


async def test_calls_and_chosen_tools_come_back_as_they_were(path) -> None:
    chat = asked()
    await save(path, chat)
    assert await load(path) == chat


async def test_a_crash_in_the_middle_of_a_round_leaves_a_stopped_call(path) -> None:
    chat = asked(ToolState.RUNNING)
    chat.turns[1].state, chat.turns[1].text = TurnState.STREAMING, ""
    await save(path, chat)
    answer = (await load(path)).turns[1]
    assert (answer.state, answer.rounds[0].uses[0].state) == (TurnState.STOPPED, ToolState.STOPPED)
    assert answer.rounds[0].is_whole


@pytest.mark.parametrize("damage", ["{", "7", '["x"]', '{"thinking": 7}'])
async def test_a_damaged_reading_is_left_out(path, damage) -> None:
    await save(path, asked())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE turns SET reading = ? WHERE role = 'assistant'", (damage,))
    answer = (await load(path)).turns[1]
    assert (answer.text, answer.notice, answer.reading) == ("It is paid.", "", None)


@pytest.mark.parametrize("damage", ["[{", "7", '["x", {"uses": 3}]', '[{"uses": [{"id": []}]}]'])
async def test_damage_to_the_calls_leaves_the_text_and_is_told(path, damage) -> None:
    await save(path, asked())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE turns SET rounds = ? WHERE role = 'assistant'", (damage,))
    answer = (await load(path)).turns[1]
    assert (answer.text, answer.notice) == ("It is paid.", DAMAGED)


async def test_messages_from_before_there_were_calls_have_the_checksums_they_had(path) -> None:
    chat = asked()
    chat.turns[1].rounds = []
    await save(path, chat)
    with closing(sqlite3.connect(path)) as connection:
        ((rounds,),) = connection.execute("SELECT DISTINCT rounds FROM turns").fetchall()
    assert rounds == "[]"
    assert [turn.notice for turn in (await load(path)).turns] == ["", ""]


async def test_what_a_tool_was_asked_and_brought_is_found(path) -> None:
    await save(path, asked())
    store = ChatStore(path)
    await store.open()
    for words in ("4711", "look_up", "Kraków", "me"):
        (hit,) = await store.search(words)
        assert f"{FOUND_START}{words}{FOUND_END}".lower() in hit.snippet.lower()
    await store.close()


async def test_what_grows_is_saved_and_an_older_state_never_comes_back(path) -> None:
    """Words become a call, whose arguments grow: the text gets shorter meanwhile."""
    chat = asked()
    answer = chat.turns[1]
    answer.state, answer.text, answer.rounds = TurnState.STREAMING, "Let me", []
    store = ChatStore(path)
    await store.open()
    await store.save([ChatChange.of(chat)], Tabs(("c",), "c"))
    states = [answer.copied()]
    answer.text = "Let me see."
    states.append(answer.copied())
    answer.text, answer.rounds = (
        "",
        [ToolRound("Let me see. «", "Let me see.", uses=[ToolUse("1", "look_up")])],
    )
    states.append(answer.copied())
    answer.rounds[0].uses[0].arguments = '{"city"'
    states.append(answer.copied())
    answer.rounds[0].uses[0].result = "Rain."
    states.append(answer.copied())
    answer.text = "It"
    states.append(answer.copied())
    saved = (await store.load()).chats["c"]
    for index, state in enumerate(states):
        store.write_answers([state])
        for older in states[:index]:
            store.write_answers([older])
        (_question, read) = (await store.load_turns(saved)).shown
        assert (read.text, len(read.rounds)) == (state.text, len(state.rounds))
        assert [use.result for one in read.rounds for use in one.uses] == [
            use.result for one in state.rounds for use in one.uses
        ]
    await store.close()


async def test_a_crash_in_the_middle_of_tasks_leaves_them_as_versions_of_the_answer(path) -> None:
    chat = asked(ToolState.RUNNING)
    answer, use = chat.turns[1], chat.turns[1].rounds[0].uses[0]
    use.tool, use.arguments = DELEGATE, '{"tasks": ["a", "b"]}'
    answer.text, answer.state = "", TurnState.STREAMING
    tasks = task_turns(answer, use, ["a", "b"])
    for turn, text, state in zip(tasks, ("A.", "B"), (TurnState.DONE, TurnState.STREAMING), strict=True):
        turn.text, turn.state = text, state
        chat.add_aside(turn)
    await save(path, chat)
    store = ChatStore(path)
    await store.open()
    kept = (await store.load()).chats["c"]
    saved = await store.load_turns(kept)
    await store.close()
    kept.chat.turns, kept.chat.asides = saved.shown, saved.asides
    back = kept.chat.turns[1]
    found = tasks_of(back.rounds[0].uses[0], back, kept.chat.versions_of(back))
    assert [(turn.text, turn.state) for turn in found] == [("A.", TurnState.DONE), ("B", TurnState.STOPPED)]
    assert [turn.messages for turn in found] == [turn.messages for turn in tasks]
    assert (back.state, back.rounds[0].uses[0].state) == (TurnState.STOPPED, ToolState.STOPPED)
    (copy,) = [chat_of(json.loads(as_text(kept.chat)))]
    again = copy.turns[1]
    found = tasks_of(again.rounds[0].uses[0], again, copy.versions_of(again))
    assert [turn.text for turn in found] == ["A.", "B"]
