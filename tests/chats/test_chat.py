from itertools import chain
from unittest.mock import PropertyMock

from hypothesis import given
from hypothesis import strategies as st

from app.chats.attachment import Attachment
from app.chats.chat import FIRST, Chat, Turn, TurnState
from app.protocol.request import Message, Overflow, Role


def test_the_title_is_the_automatic_one_until_one_is_given() -> None:
    chat = Chat()
    assert chat.display_title == "New chat"
    chat.auto_title = "What is 34 + 21?"
    assert chat.display_title == "What is 34 + 21?"
    chat.title = "Sums"
    assert chat.display_title == "Sums"


def test_a_turn_that_has_not_changed_is_the_same_message_again() -> None:
    chat = Chat(turns=[Turn(Role.USER, "count"), Turn(Role.ASSISTANT, "1")])
    question, answer = chat.messages()
    chat.turns[1].text += " 2"
    again, grown = chat.messages()
    assert again is question
    assert (answer.content, grown.content) == ("1", "1 2")
    copy = chat.turns[1].copied()
    copy.text = ""
    assert copy.messages == ()


def test_the_model_is_shown_the_system_prompt_and_every_turn_with_text() -> None:
    chat = Chat(
        system_prompt="Be short.",
        turns=[
            Turn(Role.USER, "2+2="),
            Turn(Role.ASSISTANT, "", TurnState.STOPPED),
            Turn(Role.USER, "count"),
            Turn(Role.ASSISTANT, "1 2", TurnState.STOPPED),
        ],
    )
    assert chat.messages() == (
        Message(Role.SYSTEM, "Be short."),
        Message(Role.USER, "2+2="),
        Message(Role.USER, "count"),
        Message(Role.ASSISTANT, "1 2"),
    )


def test_a_question_that_failed_at_once_does_not_burden_the_next() -> None:
    chat = Chat(
        turns=[
            Turn(Role.USER, "far too long"),
            Turn(Role.ASSISTANT, "", TurnState.FAILED, "This chat needs 9,000 tokens."),
            Turn(Role.USER, "short"),
            Turn(Role.ASSISTANT, "half an ans", TurnState.FAILED, "The engine stopped."),
            Turn(Role.USER, "go on"),
        ]
    )
    assert [message.content for message in chat.messages()] == ["short", "half an ans", "go on"]
    chat.turns.append(Turn(Role.ASSISTANT, "", TurnState.STREAMING))
    assert [message.content for message in chat.messages()] == ["short", "half an ans", "go on"]


def answered() -> Chat:
    return Chat(
        system_prompt="Be short.",
        turns=[
            Turn(Role.USER, "2+2="),
            Turn(Role.ASSISTANT, "4"),
            Turn(Role.USER, "and 1?"),
            Turn(Role.ASSISTANT, "5"),
        ],
        overflow=Overflow.ROLLING_WINDOW,
        max_context_tokens=512,
        auto_title="2+2=",
    )


def test_a_model_is_shown_nothing_before_the_first_turn_but_a_system_prompt() -> None:
    chat = Chat(turns=[Turn(Role.ASSISTANT, "Hello"), Turn(Role.USER, "2+2=")])
    greeting, question = chat.turns
    assert not chat.has_messages_before(greeting)
    assert chat.has_messages_before(question)
    chat.system_prompt = "Be short."
    assert chat.has_messages_before(greeting)


def test_a_question_that_failed_at_once_is_nothing_to_answer() -> None:
    failed, later = Turn(Role.ASSISTANT, "", TurnState.FAILED), Turn(Role.ASSISTANT, "Hello")
    chat = Chat(turns=[Turn(Role.USER, "x" * 9), failed, later])
    assert not chat.has_messages_before(later)
    assert chat.has_messages_before(failed)  # it may find room by now


def test_of_a_chat_of_failed_questions_only_the_last_is_read_to_know_that_there_is_one(monkeypatch) -> None:
    failed = [(Turn(Role.USER, "x"), Turn(Role.ASSISTANT, "", TurnState.FAILED)) for _ in range(9)]
    chat = Chat(turns=[*chain.from_iterable(failed)])
    read = PropertyMock(return_value=("x",))
    monkeypatch.setattr(Turn, "messages", read)
    assert chat.has_messages_before(chat.turns[-1])
    read.assert_called_once()


def test_a_fork_is_another_chat_with_the_same_content() -> None:
    chat = answered()
    fork = chat.fork()
    assert fork.title == "2+2= (2)"
    assert fork.messages() == chat.messages()
    assert (fork.overflow, fork.max_context_tokens) == (Overflow.ROLLING_WINDOW, 512)
    ids = [chat.id, *(turn.id for turn in chat.turns), fork.id, *(turn.id for turn in fork.turns)]
    assert len(set(ids)) == len(ids)


def test_what_happens_in_a_fork_stays_there() -> None:
    chat = answered()
    fork = chat.fork()
    fork.turns[-1].text = "6"
    fork.turns.append(Turn(Role.USER, "more"))
    assert [turn.text for turn in chat.turns] == ["2+2=", "4", "and 1?", "5"]


def test_a_fork_can_end_before_the_chat_does() -> None:
    assert [turn.text for turn in answered().fork(2).turns] == ["2+2=", "4"]


def test_what_is_still_being_answered_is_not_forked() -> None:
    chat = answered()
    assert chat.open_question is None
    question = Turn(Role.USER, "count")
    chat.turns += [question, Turn(Role.ASSISTANT, "1 2", TurnState.STREAMING)]
    assert chat.open_question is question
    assert [turn.text for turn in chat.fork().turns] == ["2+2=", "4", "and 1?", "5"]


def test_a_question_of_files_alone_is_not_forked_while_it_is_being_answered() -> None:
    files = (Attachment("notes.md", "The meeting is at ten."),)
    question = Turn(Role.USER, "", attachments=files)
    chat = Chat(turns=[question, Turn(Role.ASSISTANT, "At", TurnState.STREAMING)])
    assert chat.open_question is question
    assert chat.fork().turns == []


def test_an_answer_that_no_question_stands_before_is_not_forked_while_it_is_written() -> None:
    greeting, streaming = Turn(Role.ASSISTANT, "Hello"), Turn(Role.ASSISTANT, "", TurnState.STREAMING)
    assert Chat(turns=[streaming]).fork().turns == []
    chat = Chat(turns=[greeting, streaming])
    assert chat.open_question is None
    assert [turn.text for turn in chat.fork().turns] == ["Hello"]


def test_a_fork_at_an_answer_is_the_same_up_to_there_and_has_another_text() -> None:
    chat = answered()
    fork = chat.fork_at(chat.turns[1], "4, or")
    assert fork.title == "2+2= (2)"
    assert [turn.text for turn in fork.turns] == ["2+2=", "4, or"]
    assert not {turn.id for turn in fork.turns} & {turn.id for turn in chat.turns}
    assert chat.turns[1].text == "4"


def test_an_answer_that_is_still_written_can_be_forked_at() -> None:
    chat = answered()
    chat.turns[-1].state = TurnState.STREAMING
    fork = chat.fork_at(chat.turns[-1], "not 5")
    assert [(turn.text, turn.state) for turn in fork.turns[2:]] == [
        ("and 1?", TurnState.DONE),
        ("not 5", TurnState.DONE),
    ]


def test_the_first_turns_can_be_shown_without_the_others() -> None:
    assert [message.content for message in answered().messages(3)] == ["Be short.", "2+2=", "4", "and 1?"]


def test_turns_that_say_the_same_are_told_apart() -> None:
    chat = answered()
    chat.turns[3].text = chat.turns[1].text
    assert [chat.index_of(turn) for turn in chat.turns] == [0, 1, 2, 3]


def texts(turns: list[Turn]) -> list[str]:
    return [turn.text for turn in turns]


def test_what_is_said_after_a_cut_is_another_version() -> None:
    chat = answered()
    first = chat.turns[1]
    chat.put_aside(1)
    chat.add(Turn(Role.ASSISTANT, "four"))
    second = chat.turns[1]

    assert texts(chat.turns) == ["2+2=", "four"]
    assert chat.versions_of(second) == chat.versions_of(first) == (first, second)
    assert chat.versions_of(chat.turns[0]) == (chat.turns[0],)


def test_showing_a_version_shows_what_was_last_shown_after_it() -> None:
    chat = answered()
    first = chat.turns[1]
    chat.put_aside(3)
    chat.add(Turn(Role.ASSISTANT, "five"))
    chat.put_aside(1)
    chat.add(Turn(Role.ASSISTANT, "four"))
    chat.show_version(first)
    assert texts(chat.turns) == ["2+2=", "4", "and 1?", "five"]
    chat.show_version(chat.turns[1])  # it is shown already
    assert texts(chat.turns) == ["2+2=", "4", "and 1?", "five"]


def test_a_turn_deep_in_another_version_can_be_shown() -> None:
    chat = answered()
    last = chat.turns[3]
    chat.put_aside(0)
    chat.add(Turn(Role.USER, "hello"))
    chat.show_version(last)
    assert texts(chat.turns) == ["2+2=", "4", "and 1?", "5"]
    assert [texts(versions) for versions in chat.asides.values()] == [["hello"]]


def test_a_removed_turn_leaves_what_follows_it() -> None:
    chat = answered()
    removed = chat.remove(chat.turns[1])
    assert texts(chat.turns) == ["2+2=", "and 1?", "5"]
    chat.restore(removed)
    assert chat == answered_like(chat)


def test_a_removed_version_takes_what_follows_it_along_and_shows_the_one_before() -> None:
    chat = answered()
    chat.put_aside(1)
    chat.add(Turn(Role.ASSISTANT, "four"), Turn(Role.USER, "thanks"))
    removed = chat.remove(chat.turns[1])
    assert texts(chat.turns) == ["2+2=", "4", "and 1?", "5"]
    assert not chat.asides
    chat.restore(removed)
    assert texts(chat.turns) == ["2+2=", "four", "thanks"]


def test_what_was_said_since_a_removal_is_kept_as_a_version() -> None:
    chat = answered()
    removed = chat.remove(chat.turns[3])
    chat.add(Turn(Role.ASSISTANT, "or 6"))
    chat.restore(removed)
    assert texts(chat.turns) == ["2+2=", "4", "and 1?", "5"]
    assert texts(list(chat.versions_of(chat.turns[3]))) == ["5", "or 6"]


def test_a_files_text_goes_to_the_model_before_the_question() -> None:
    chat = Chat(turns=[Turn(Role.USER, "Sum it up.", attachments=(Attachment("a.md", "```\nx\n```"),))])
    (message,) = chat.messages()
    assert message.content == "File: a.md\n````\n```\nx\n```\n````\n\nSum it up."


def answered_like(chat: Chat) -> Chat:
    """`answered()` with the ids and times of `chat`."""
    other = answered()
    other.id, other.created_at = chat.id, chat.created_at
    for mine, theirs in zip(other.turns, chat.turns, strict=True):
        mine.id, mine.created_at = theirs.id, theirs.created_at
    other.__post_init__()
    return other


def check_tree(chat: Chat) -> None:
    turns = list(chat.all_turns())
    ids = [turn.id for turn in turns]
    assert len(set(ids)) == len(ids)
    assert all(turn.parent_id == FIRST or turn.parent_id in ids for turn in turns)
    assert [turn.parent_id for turn in chat.turns] == [FIRST, *(turn.id for turn in chat.turns)][
        : len(chat.turns)
    ]
    for parent_id, versions in chat.asides.items():
        assert versions
        assert all(turn.parent_id == parent_id for turn in versions)


@given(st.data())
def test_no_turn_is_lost_or_shown_twice_whatever_is_done(data: st.DataObject) -> None:
    chat, alive, number = Chat(), set(), 0
    for _ in range(data.draw(st.integers(1, 25))):
        action = data.draw(st.sampled_from(["add", "put_aside", "show", "remove", "undo"]))
        if action == "add":
            number += 1
            chat.add(Turn(Role.USER, "x", id=f"{number:03d}", created_at=number))
            alive.add(chat.turns[-1].id)
        elif action == "put_aside":
            chat.put_aside(data.draw(st.integers(0, len(chat.turns))))
        elif action == "show" and alive:
            turn = data.draw(st.sampled_from(sorted(chat.all_turns(), key=lambda turn: turn.id)))
            chat.show_version(turn)
            assert turn in chat.turns
        elif action in ("remove", "undo") and chat.turns:
            shown = texts_and_ids(chat)
            removed = chat.remove(chat.turns[data.draw(st.integers(0, len(chat.turns) - 1))])
            if action == "undo":
                chat.restore(removed)
                assert texts_and_ids(chat)[: len(shown)] == shown  # and what was last said after it
            else:
                alive -= {turn.id for turn in removed.turns}
        check_tree(chat)
        assert {turn.id for turn in chat.all_turns()} == alive


def texts_and_ids(chat: Chat) -> list[tuple[str, str]]:
    return [(turn.text, turn.id) for turn in chat.turns]


def test_a_version_may_be_thousands_of_turns_long() -> None:
    """As an imported chat may be: neither Python's stack nor the square of its length is in the way."""
    chat = Chat()
    question, long = Turn(Role.USER, "q"), [Turn(Role.ASSISTANT, str(number)) for number in range(5_000)]
    chat.add(question, *long)
    chat.put_aside(1)
    chat.add(Turn(Role.ASSISTANT, "short"))
    chat.put_aside(0)
    chat.add(Turn(Role.USER, "other"))
    chat.show_version(long[-1])
    assert [turn.text for turn in chat.turns[:3]] == ["q", "0", "1"]
    assert len(chat.turns) == 5_001
    chat.show_version(chat.versions_of(long[0])[1])
    removed = chat.remove(question)
    assert len(removed.turns) == 5_002
    assert [turn.text for turn in chat.turns] == ["other"]
    chat.restore(removed)
    assert len(list(chat.all_turns())) == 5_003
