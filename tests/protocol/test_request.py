import pytest

from app.protocol.errors import InvalidRequestError
from app.protocol.output import Usage
from app.protocol.request import Caller, Message, Request, Role, by_turn, owes
from tests.fakes import model_info

HELLO = (Message(Role.USER, "hello"),)


def test_a_request_without_messages_is_refused():
    with pytest.raises(InvalidRequestError, match="no message"):
        Request("r", "c", ())


def test_an_answer_of_fewer_than_no_tokens_is_refused():
    with pytest.raises(InvalidRequestError, match="max_tokens"):
        Request("r", "c", HELLO, max_tokens=-1)


def test_a_request_has_messages_or_a_prompt():
    assert Request("r", "c", prompt=("x",)).messages == ()
    with pytest.raises(InvalidRequestError, match="not both"):
        Request("r", "c", HELLO, prompt=("x",))


def test_an_empty_stop_string_is_refused():
    with pytest.raises(InvalidRequestError, match="stop string"):
        Request("r", "c", HELLO, stop=("",))


def test_speed_leaves_the_first_token_to_the_prompt():
    assert Usage(num_generated_tokens=11, decode_s=2.0).tokens_per_s == 5.0
    assert Usage(num_generated_tokens=1).tokens_per_s == 0.0


def test_an_isolated_chat_is_as_long_as_its_own_cells():
    shared = model_info(n_ctx=1024, n_seq_max=4, n_ctx_train=512)
    isolated = model_info(n_ctx=1024, n_seq_max=4, n_ctx_train=512, is_unified=False)
    assert (shared.max_sequence_tokens, isolated.max_sequence_tokens) == (512, 256)
    assert "context length the model was trained for" in shared.longer_chats_need
    assert "larger context" in isolated.longer_chats_need


A, B, C = Caller("a", "1"), Caller("a", "2"), Caller("c", "1")


def in_order(waiting: list[Caller], served: list[Caller]) -> list[Caller]:
    return by_turn(waiting, served, lambda caller: caller)


def test_programs_take_turns_and_within_them_connections():
    assert in_order([A, A, A, B, C], []) == [A, C, B, A, A]


def test_who_is_served_already_comes_later():
    assert in_order([A, C], [A]) == [C, A]
    assert in_order([A, B], [A]) == [B, A]
    assert in_order([A, C], [C, C]) == [A, C]


def test_one_caller_alone_is_served_in_order():
    waiting = [(A, number) for number in range(5)]
    assert by_turn(waiting, [A, A], lambda one: one[0]) == waiting


def test_nobody_gives_a_place_away_who_would_then_have_less():
    assert owes(A, C, [A, A])
    assert not owes(A, C, [A])
    assert not owes(A, C, [A, A, C])
    assert owes(A, B, [A, A])
    assert not owes(A, C, [A, B, C])  # of the two programs each has its share
