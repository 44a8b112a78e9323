"""Which chat a request goes on with: what was asked before tells."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.api.conversations import Conversations
from app.protocol.request import Message, Request, Role
from tests.effort import EFFORT


def said(*texts: str, **options: object) -> Request:
    roles = (Role.USER, Role.ASSISTANT)
    messages = tuple(Message(roles[index % 2], text) for index, text in enumerate(texts))
    return Request("r", "", messages, **options)  # type: ignore[arg-type]


def written(*prompt: str | int) -> Request:
    return Request("r", "", prompt=prompt)


def answered(conversations: Conversations, request: Request, max_kept: int = 4) -> str:
    chat_id = conversations.begin(request, max_kept).chat_id
    assert conversations.end(chat_id, was_answered=True)
    return chat_id


def test_the_next_turn_goes_on_with_the_chat():
    conversations = Conversations()
    chat_id = answered(conversations, said("one"))
    assert answered(conversations, said("one", "1", "two")) == chat_id
    assert answered(conversations, said("one", "1", "two", "2", "three")) == chat_id


def test_the_same_question_again_goes_on_with_the_chat():
    conversations = Conversations()
    assert answered(conversations, said("one")) == answered(conversations, said("one"))


def test_another_question_is_another_chat():
    conversations = Conversations()
    assert answered(conversations, said("one")) != answered(conversations, said("two"))


def test_of_several_chats_the_one_with_most_in_common_goes_on():
    conversations = Conversations()
    short = answered(conversations, said("one"))
    conversations.begin(said("one"), 4)  # busy, so that the next gets a chat of its own
    long = answered(conversations, said("one", "1", "two"))
    assert long != short
    conversations.end(short, was_answered=True)
    assert answered(conversations, said("one", "1", "two", "2", "three")) == long


def test_raw_prompts_go_on_within_their_text_and_between_tokens():
    conversations = Conversations()
    text = answered(conversations, written("Once upon"))
    assert answered(conversations, written("Once upon a time")) == text
    tokens = answered(conversations, written(1, 2, 3))
    assert answered(conversations, written(1, 2, 3, 4)) == tokens
    assert answered(conversations, written(1, 2)) != tokens


def test_a_chat_being_answered_is_left_alone():
    conversations = Conversations()
    first = conversations.begin(said("one"), 4)
    assert conversations.begin(said("one"), 4).chat_id != first.chat_id


def test_when_all_places_are_taken_the_one_unused_for_longest_is_taken_over():
    conversations = Conversations()
    oldest, newer = (answered(conversations, said(text), 2) for text in ("one", "two"))
    assert answered(conversations, said("three"), 2) == oldest
    assert answered(conversations, said("four"), 2) == newer


def test_where_all_are_being_answered_a_chat_is_not_kept():
    conversations = Conversations()
    kept = conversations.begin(said("one"), 1)
    passing = conversations.begin(said("two"), 1)
    assert (kept.keep_cells, passing.keep_cells) == (True, False)
    assert passing.chat_id != kept.chat_id
    assert set(conversations.titles.values()) == {"API: one", "API: two"}
    conversations.end(passing.chat_id, was_answered=True)
    assert set(conversations.titles.values()) == {"API: one"}


def test_a_first_answer_that_was_broken_off_leaves_nothing():
    conversations = Conversations()
    chat_id = conversations.begin(said("one"), 4).chat_id
    assert not conversations.end(chat_id, was_answered=False)
    assert conversations.titles == {}


def test_a_later_answer_that_was_broken_off_leaves_the_chat():
    conversations = Conversations()
    chat_id = answered(conversations, said("one"))
    assert conversations.begin(said("one", "1", "two"), 4).chat_id == chat_id
    assert conversations.end(chat_id, was_answered=False)
    assert answered(conversations, said("one", "1", "two")) == chat_id


def test_a_taken_over_chat_whose_new_answer_was_broken_off_leaves_nothing():
    conversations = Conversations()
    oldest, newer = (answered(conversations, said(text), 2) for text in ("one", "two"))
    assert conversations.begin(said("three"), 2).chat_id == oldest
    assert not conversations.end(oldest, was_answered=False)
    assert conversations.titles == {newer: "API: two"}


def test_a_title_is_one_short_line():
    conversations = Conversations()
    conversations.begin(said("a\nb " * 500), 4)
    conversations.begin(written(1, 2), 4)
    first, second = conversations.titles.values()
    assert first.startswith("API: a b a b")
    assert len(first) < 80
    assert second == "API: tokens"


@settings(max_examples=40 * EFFORT)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=40))
def test_never_more_are_kept_than_allowed_and_no_two_requests_share_one(events):
    conversations = Conversations()
    running: list[Request] = []
    for text, ending, was_answered in events:
        running.append(conversations.begin(said(text), 2))
        if ending < len(running):
            conversations.end(running.pop(ending).chat_id, was_answered=was_answered)
        ids = [request.chat_id for request in running]
        assert len(set(ids)) == len(ids)
        assert sum(request.keep_cells for request in running) <= 2
    for request in running:
        conversations.end(request.chat_id, was_answered=True)
    assert len(conversations.titles) <= 2
