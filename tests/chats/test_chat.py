from app.chats.chat import MAX_TITLE_CHARS, Chat, Turn, TurnState
from app.engine.types import Message, Role


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
