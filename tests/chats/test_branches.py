from app.chats.branches import MAX_CHARS, branches_of, path_to, votes
from app.chats.chat import Chat, Turn, TurnState
from app.protocol.request import Role


def question(text: str) -> Turn:
    return Turn(Role.USER, text)


def answer(text: str) -> Turn:
    return Turn(Role.ASSISTANT, text)


def drawn(*chats: Chat) -> list[str]:
    """Each row as lane, text, and the row it follows."""
    return [
        f"{'  ' * row.lane}{row.turn.text} < {row.parent}{' *' if row.is_shown else ''}"
        for row in branches_of(*chats[:1], chats)
    ]


def test_a_chat_without_versions_is_one_lane() -> None:
    chat = Chat(turns=[question("a"), answer("b"), question("c")])
    assert drawn(chat) == ["a < None *", "b < 0 *", "c < 1 *"]


def test_other_versions_stand_beside_the_shown_one_with_what_follows_them() -> None:
    chat = Chat(turns=[question("a"), answer("old"), question("more"), answer("end")])
    chat.put_aside(1)
    chat.add(answer("new"))
    assert drawn(chat) == ["a < None *", "  old < 0", "  more < 1", "  end < 2", "new < 0 *"]
    assert path_to(branches_of(chat), 3) == [0, 1, 2, 3]


def test_versions_of_the_first_message_have_no_common_turn() -> None:
    chat = Chat(turns=[question("a"), answer("b")])
    chat.put_aside(0)
    chat.add(question("c"))
    assert drawn(chat) == ["  a < None", "  b < 0", "c < None *"]


def test_a_fork_is_a_branch_where_it_parts_and_shares_what_it_copied() -> None:
    chat = Chat(turns=[question("a"), answer("b")])
    fork = chat.fork()
    chat.add(question("c"))
    fork.add(question("d"))
    assert drawn(chat, fork, Chat(turns=[question("another chat")])) == [
        "a < None *",
        "b < 0 *",
        "  d < 1",
        "c < 1 *",
    ]
    rows = branches_of(chat, [fork])
    assert [len(row.places) for row in rows] == [2, 2, 1, 1]


def test_equal_versions_of_one_chat_stay_apart() -> None:
    chat = Chat(turns=[question("a")])
    one, other = answer("b"), answer("b")
    other.created_at = one.created_at
    chat.add(one)
    chat.put_aside(1)
    chat.add(other)
    assert len(branches_of(chat)) == 3


def test_each_row_follows_an_earlier_one_and_lanes_never_cross() -> None:
    """A lane that a later row goes on in is not taken by a row between."""
    chat = Chat(turns=[question("a")])
    for number in range(4):
        chat.add(answer(f"b{number}"), question(f"c{number}"))
        chat.put_aside(1 + number % 2)
        chat.add(answer(f"d{number}"))
    rows = branches_of(chat)
    assert len(rows) == len(list(chat.all_turns()))
    for number, row in enumerate(rows):
        if row.parent is not None:
            between = rows[row.parent + 1 : number]
            assert all(other.lane > rows[row.parent].lane for other in between)
            assert row.lane in (rows[row.parent].lane, rows[row.parent].lane + 1)


def test_a_deep_chat_is_no_trouble() -> None:
    chat = Chat(turns=[question(str(number)) for number in range(5_000)])
    assert {row.lane for row in branches_of(chat)} == {0}


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
