from app.chats.chat import MAX_TITLE_CHARS, Chat, Turn, TurnState
from app.engine.types import Message, Overflow, Role


def test_the_title_is_the_beginning_of_the_first_question_until_one_is_given() -> None:
    chat = Chat()
    assert chat.display_title == "New chat"
    chat.turns.append(Turn(Role.USER, "  What is\n34 + 21?  "))
    assert chat.display_title == "What is 34 + 21?"
    chat.title = "Sums"
    assert chat.display_title == "Sums"


def test_a_long_title_is_cut() -> None:
    chat = Chat(turns=[Turn(Role.USER, "word " * 40)])
    assert len(chat.display_title) <= MAX_TITLE_CHARS
    assert chat.display_title.endswith("…")


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
    )


def test_a_fork_is_another_chat_with_the_same_content() -> None:
    chat = answered()
    fork = chat.fork()
    assert fork.title == "2+2= (fork)"
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
    assert chat.open_question == ""
    chat.turns += [Turn(Role.USER, "count"), Turn(Role.ASSISTANT, "1 2", TurnState.STREAMING)]
    assert chat.open_question == "count"
    assert [turn.text for turn in chat.fork().turns] == ["2+2=", "4", "and 1?", "5"]


def test_a_fork_at_an_answer_is_the_same_up_to_there_and_has_another_text() -> None:
    chat = answered()
    fork = chat.fork_at(chat.turns[1], "4, or")
    assert fork.title == "2+2= (fork)"
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
