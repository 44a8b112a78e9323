from app.chats.branches import MAX_CHARS, votes
from app.chats.chat import Turn, TurnState
from app.protocol.request import Role


def answers(*texts: str) -> list[Turn]:
    return [Turn(Role.ASSISTANT, text) for text in texts]


def test_equal_answers_are_counted_whatever_their_case_and_full_stop() -> None:
    assert votes(answers("55", "Paris.", "paris", " **Paris** ")) == [("Paris.", 3), ("55", 1)]


def test_what_was_thought_does_not_count() -> None:
    assert votes(answers("<think>one way</think>7", "<think>another</think>7")) == [("7", 2)]


def test_there_is_no_vote_on_long_answers_or_before_there_are_several() -> None:
    assert votes(answers("yes")) == []
    assert votes(answers("yes", "y" * (MAX_CHARS + 1))) == []
    growing = Turn(Role.ASSISTANT, "ye", TurnState.STREAMING)
    assert votes([*answers("yes"), growing]) == []
