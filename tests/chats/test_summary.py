import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.chats.attachment import PASSAGE, Attachment
from app.chats.chat import Chat, Turn, TurnState
from app.chats.summary import (
    ASKED,
    CUT_OFF,
    EMPTY,
    MAX_CHARS,
    MAX_NAMES,
    MAX_TOKENS,
    MIN_TOKENS,
    TOO_LONG,
    WISH,
    Summary,
    as_json,
    checked,
    files_of,
    from_json,
    max_tokens,
    messages_of,
    unrepeated,
    wish,
)
from app.protocol.output import Usage
from app.protocol.request import Message, Role
from app.system.said import said, to_text
from tests.chats.test_tool_json import JSON, TEXTS

NOTICES = st.sampled_from(["", CUT_OFF, said("Too long by {number}.", number=3)]) | TEXTS
COUNTS = st.integers(0, 2**40)
SUMMARIES = st.builds(
    Summary,
    TEXTS,
    NOTICES,
    model=TEXTS,
    created_at=st.floats(0, 2**40),
    num_tokens=COUNTS,
    num_replaced=COUNTS,
)
NAMES = st.sampled_from(Summary.__slots__)
NEARLY = (
    JSON | st.dictionaries(NAMES, JSON) | st.dictionaries(NAMES, JSON).map(lambda one: one | {"text": "x"})
)


def question(text: str, *attachments: Attachment) -> Turn:
    return Turn(Role.USER, text, attachments=attachments)


def answer(text: str, summary: str = "", **more: object) -> Turn:
    return Turn(Role.ASSISTANT, text, summary=Summary(summary, **more) if summary else None)  # type: ignore[arg-type]


def texts(chat: Chat, *args: int) -> list[str]:
    return [message.content for message in chat.messages(*args)]


# In the place of turns


def test_it_stands_for_the_turns_up_to_its_own() -> None:
    turns = [question("1"), answer("a"), question("2"), answer("b", "- 1, 2"), question("3"), answer("c")]
    chat = Chat(system_prompt="Be brief.", turns=turns)
    assert texts(chat) == ["Be brief.", ASKED, "- 1, 2", "3", "c"]
    assert [message.role for message in chat.messages()[1:3]] == [Role.USER, Role.ASSISTANT]
    assert chat.num_summed_up() == 4
    assert texts(chat, 4) == ["Be brief.", ASKED, "- 1, 2"]
    assert texts(chat, 3) == ["Be brief.", "1", "a", "2"]  # before it nothing is summed up


def test_the_last_one_that_is_used_counts() -> None:
    chat = Chat(turns=[question("1"), answer("a", "- 1"), question("2"), answer("b", "- 1, 2")])
    first, second = chat.turns[1], chat.turns[3]
    assert texts(chat) == [ASKED, "- 1, 2"]
    assert [one.content for one in chat.messages(but=second)] == [ASKED, "- 1", "2", "b"]
    second.summary = Summary("- half", is_growing=True)
    assert chat.num_summed_up() == 2
    second.summary = Summary("- half", notice=CUT_OFF)
    assert texts(chat) == [ASKED, "- 1", "2", "b"]
    first.summary = Summary("  ")
    assert texts(chat) == ["1", "a", "2", "b"]


def test_each_path_has_its_own() -> None:
    chat = Chat(turns=[question("1"), answer("a", "- 1"), question("2"), answer("b")])
    summed_up = chat.turns[1]
    chat.put_aside(1)
    chat.add(answer("other"), question("3"))
    assert texts(chat) == ["1", "other", "3"]
    chat.show_version(summed_up)
    assert texts(chat) == [ASKED, "- 1", "2", "b"]
    assert chat.fork(1).num_summed_up() == 0
    fork = chat.fork()
    fork.turns[1].summary = None
    assert summed_up.summary


def test_a_copy_has_none_in_the_making() -> None:
    turn = answer("a", "- ha", is_growing=True)
    assert turn.copied().summary is None
    assert Chat(turns=[question("1"), turn]).fork().turns[1].summary is None
    assert answer("a", "- no", notice=CUT_OFF).copied().summary == Summary("- no", CUT_OFF)


def test_a_question_that_failed_before_it_is_in_it() -> None:
    failed = Turn(Role.ASSISTANT, "", TurnState.FAILED)
    chat = Chat(turns=[question("1"), answer("a", "- 1"), question("too long"), failed, question("2")])
    assert texts(chat) == [ASKED, "- 1", "2"]


def test_it_names_files_but_not_passages_and_each_once() -> None:
    plan, found = Attachment("plan.txt", "mill", "text"), Attachment("shelf.txt", "part", PASSAGE)
    files = [plan, found, plan, Attachment("plan.txt", "other", "text")]
    assert len(files_of(files)) == 2
    (_, told) = messages_of(Summary(" - 1 \n"), files)
    assert told == Message(Role.ASSISTANT, "- 1\n\nFiles that were shown: plan.txt, plan.txt")
    many = [Attachment(f"{number}.txt", "", "text") for number in range(999)]
    assert messages_of(Summary("s"), many)[1].content.count(".txt") == MAX_NAMES
    assert messages_of(Summary("s"), [found])[1].content == "s"


# Asked for


@given(COUNTS, st.integers(-(2**20), 2**40))
def test_it_has_a_quarter_of_what_it_replaces_at_most(num_replaced: int, room: int) -> None:
    most = max_tokens(num_replaced, room)
    assert MIN_TOKENS <= most <= MAX_TOKENS
    assert most == MIN_TOKENS or most <= min(num_replaced / 4, room)


def test_the_wish_has_fewer_words_than_tokens() -> None:
    assert wish(1_024) == Message(Role.USER, WISH.format(words=400))
    assert wish(MIN_TOKENS).content == WISH.format(words=20)


@pytest.mark.parametrize(
    ("text", "num_generated", "is_cut", "trouble"),
    [
        ("- a", 250, False, ""),
        ("- a", 251, False, TOO_LONG),
        ("- a", 9, True, CUT_OFF),
        (" \n", 1, False, EMPTY),
        ("", 0, True, EMPTY),
    ],
)
def test_why_it_cannot_be_used(text: str, num_generated: int, is_cut: bool, trouble: str) -> None:
    usage = Usage(num_prompt_tokens=1_000, num_generated_tokens=num_generated)
    assert checked(text, usage, is_cut=is_cut) == trouble


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("a\nb\nc\na\nb\nc\na", "a\nb\nc\n"),
        ("x\na\na\na\na\na", "x\na\n"),
        ("a\nb\nc\na\nb\nc", "a\nb\nc\na\nb\nc"),  # the last line may grow
        ("a\nb\n\na\nb\n\nc", "a\nb\n\na\nb\n\nc"),  # as code may have it
        ("a\nb\nc\nd\n", "a\nb\nc\nd\n"),
        ("", ""),
    ],
)
def test_where_it_begins_to_repeat_itself(text: str, whole: str) -> None:
    assert unrepeated(text) == whole


# As JSON


@given(SUMMARIES)
def test_it_comes_back_as_it_was(summary: Summary) -> None:
    found = from_json(json.loads(json.dumps(as_json(summary))))
    assert found == summary
    assert found
    assert to_text(found.notice) == to_text(summary.notice)


def test_one_in_the_making_is_not_kept() -> None:
    assert as_json(None) == as_json(Summary("- ha", is_growing=True)) == {}
    assert from_json({}) is None


@example({"text": "x", "notice": {"a": {"b" * 3000: None}}})
@example({"text": "x", "notice": "{" + "x" * 3000})
@given(NEARLY)
def test_of_anything_else_only_what_is_right_is_taken(stored: object) -> None:
    found = from_json(stored)
    assert found is None or from_json(json.loads(json.dumps(as_json(found), allow_nan=False))) == found


def test_what_is_damaged_is_left_out() -> None:
    damaged = {"text": "s\ud800" + "x" * MAX_CHARS, "notice": None, "num_tokens": -3, "created_at": "never"}
    found = from_json(damaged | {"num_replaced": float("nan"), "is_growing": True, "zz": 1})
    assert found
    assert (found.text[:3], len(found.text)) == ("s?x", MAX_CHARS)
    assert found.is_used
    assert (found.num_tokens, found.num_replaced, found.created_at) == (0, 0, 0)
    for nothing in (None, [], "text", {"text": 3}, {"notice": "x"}):
        assert from_json(nothing) is None
