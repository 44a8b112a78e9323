from app.chats.branches import branches_of
from app.chats.chat import Chat, Turn, TurnState
from app.inspector.tree_table import holders_of, line_of, strokes_of, together, token_ranges
from app.protocol.output import Usage
from app.protocol.request import Role
from tests.inspector.cell_maps import cell_map


def with_two_answers() -> Chat:
    chat = Chat(turns=[Turn(Role.USER, "a"), Turn(Role.ASSISTANT, "old"), Turn(Role.USER, "more")])
    chat.put_aside(1)
    chat.add(Turn(Role.ASSISTANT, "new"))
    return chat


def test_lines_lead_from_each_turn_to_those_after_it() -> None:
    question, old, more, new = strokes_of(branches_of(with_two_answers()))
    assert question.below == [1, 3]
    assert (old.above, old.bend, old.below, old.through) == (1, 0, [2], {0: [3]})
    assert (more.above, more.bend, more.through) == (2, None, {0: [3]})
    assert (new.above, new.bend, new.below) == (3, None, [])


def answered(num_prompt_tokens: int, num_generated_tokens: int) -> Turn:
    return Turn(
        Role.ASSISTANT, "x", usage=Usage(num_prompt_tokens, num_generated_tokens=num_generated_tokens)
    )


def test_each_turn_has_the_positions_that_its_answers_tell() -> None:
    question, more = Turn(Role.USER, "a"), Turn(Role.USER, "b")
    path = [question, answered(10, 5), more, answered(22, 3)]
    assert token_ranges(path) == [(0, 10), (10, 15), (15, 22), (22, 25)]
    assert token_ranges([question, answered(0, 0)]) == [(0, 0), (0, 0)]


def test_a_turn_is_held_by_the_sequences_that_have_most_of_its_cells() -> None:
    cells = cell_map([(0, 2)] * 4 + [(0,)] * 3 + [()] * 2)
    assert holders_of(cells, 0, [(0, 4), (3, 7), (7, 9)]) == [(0, 2), (0,), ()]
    assert holders_of(cells, 2, [(0, 4), (4, 7)]) == [(2, 0), ()]
    assert holders_of(None, 1, [(0, 4), (0, 0)]) == [(1,), ()]
    assert together({1: (3, 0), 2: (0, 1)}, [1, 2, 5]) == (0, 1, 3)


def test_what_is_being_written_ends_with_a_whole_word() -> None:
    assert line_of(Turn(Role.ASSISTANT, "The sea is de", TurnState.STREAMING)) == "The sea is …"
    assert line_of(Turn(Role.ASSISTANT, "The", TurnState.STREAMING)) == "The"
    assert line_of(Turn(Role.ASSISTANT, "The sea is deep")) == "The sea is deep"
