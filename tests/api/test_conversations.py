"""Which chat a request goes on with: what was asked before tells."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.api import conversations as kept
from app.api.conversations import Conversations
from app.protocol.request import Message, Request, Role
from tests.api.conftest import serving
from tests.effort import EFFORT
from tests.fakes import CountingBackend


def said(*texts: str, **options: object) -> Request:
    roles = (Role.USER, Role.ASSISTANT)
    messages = tuple(Message(roles[index % 2], text) for index, text in enumerate(texts))
    return Request("r", "", messages, **options)  # type: ignore[arg-type]


def written(*prompt: str | int) -> Request:
    return Request("r", "", prompt=prompt)


class Known(Conversations):
    """Notes what it has forgotten."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []
        super().__init__(self.forgotten.append)

    def begin(self, request: Request, num_slots: int = 4) -> Request:
        return super().begin(request, num_slots)


@pytest.fixture
def two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_KEPT", 2)


def answered(conversations: Conversations, request: Request) -> str:
    chat_id = conversations.begin(request).chat_id
    conversations.end(chat_id, was_begun=True)
    assert chat_id in conversations.titles
    return chat_id


def test_the_next_turn_goes_on_with_the_chat():
    conversations = Known()
    chat_id = answered(conversations, said("one"))
    assert answered(conversations, said("one", "1", "two")) == chat_id
    assert answered(conversations, said("one", "1", "two", "2", "three")) == chat_id


def test_the_same_question_again_goes_on_with_the_chat():
    conversations = Known()
    assert answered(conversations, said("one")) == answered(conversations, said("one"))


def test_another_question_is_another_chat():
    conversations = Known()
    assert answered(conversations, said("one")) != answered(conversations, said("two"))


def test_of_several_chats_the_one_with_most_in_common_goes_on():
    conversations = Known()
    short = answered(conversations, said("one"))
    conversations.begin(said("one"))  # busy, so that the next gets a chat of its own
    long = answered(conversations, said("one", "1", "two"))
    assert long != short
    conversations.end(short, was_begun=True)
    assert answered(conversations, said("one", "1", "two", "2", "three")) == long


def test_raw_prompts_go_on_within_their_text_and_between_tokens():
    conversations = Known()
    text = answered(conversations, written("Once upon"))
    assert answered(conversations, written("Once upon a time")) == text
    tokens = answered(conversations, written(1, 2, 3))
    assert answered(conversations, written(1, 2, 3)) == tokens
    assert answered(conversations, written(1, 2)) != tokens


def test_a_chat_being_answered_is_left_alone():
    conversations = Known()
    first = conversations.begin(said("one"))
    assert conversations.begin(said("one")).chat_id != first.chat_id


def test_there_is_place_for_more_chats_than_slots():
    conversations = Known()
    first = [answered(conversations, said(str(number))) for number in range(64)]
    again = [answered(conversations, said(str(number), "ok", "and?")) for number in range(64)]
    assert again == first
    assert not conversations.forgotten


@pytest.mark.usefixtures("two_places")
def test_when_all_places_are_taken_the_one_unused_for_longest_is_forgotten():
    conversations = Known()
    one, two = (answered(conversations, said(text)) for text in ("one", "two"))
    assert answered(conversations, said("one", "1", "more")) == one
    three = answered(conversations, said("three"))
    assert conversations.forgotten == [two]
    assert set(conversations.titles) == {one, three}


def test_of_prompts_of_tokens_no_more_are_kept_than_slots():
    conversations = Known()
    chat = answered(conversations, said("one"))
    gaps = [answered(conversations, written(number, 1, 2)) for number in range(6)]
    assert conversations.forgotten == gaps[:2]
    assert answered(conversations, written(5, 1, 2, 3)) == gaps[5]
    assert answered(conversations, said("one", "1", "two")) == chat


def test_long_prompts_take_the_place_of_many():
    conversations = Known()
    half = kept.MAX_LENGTH // 2
    chats = [answered(conversations, written(text * half)) for text in "abc"]
    assert conversations.forgotten == chats[:1]
    answered(conversations, written("d" * (kept.MAX_LENGTH + 1)))
    assert conversations.forgotten == chats


@pytest.mark.usefixtures("two_places")
def test_where_all_are_being_answered_a_chat_is_not_kept():
    conversations = Known()
    busy = [conversations.begin(said(text)) for text in ("one", "two")]
    passing = conversations.begin(said("three"))
    assert [one.keep_cells for one in (*busy, passing)] == [True, True, False]
    assert len({one.chat_id for one in (*busy, passing)}) == 3
    assert set(conversations.titles.values()) == {"API: one", "API: two", "API: three"}
    conversations.end(passing.chat_id, was_begun=True)
    assert set(conversations.titles.values()) == {"API: one", "API: two"}
    assert not conversations.forgotten  # its cells were freed with its answer


def test_a_first_request_that_was_never_begun_leaves_nothing():
    conversations = Known()
    chat_id = conversations.begin(said("one")).chat_id
    conversations.end(chat_id, was_begun=False)
    assert conversations.titles == {}
    assert conversations.forgotten == [chat_id]


def test_a_later_request_that_was_never_begun_leaves_the_chat():
    conversations = Known()
    chat_id = answered(conversations, said("one"))
    assert conversations.begin(said("one", "1", "two")).chat_id == chat_id
    conversations.end(chat_id, was_begun=False)
    assert not conversations.forgotten
    assert answered(conversations, said("one", "1", "two")) == chat_id


def test_a_title_is_one_short_line():
    conversations = Known()
    conversations.begin(said("a\nb " * 500))
    conversations.begin(written(1, 2))
    first, second = conversations.titles.values()
    assert first.startswith("API: a b a b")
    assert len(first) < 80
    assert second == "API: tokens"


@pytest.mark.usefixtures("two_places")
@settings(max_examples=40 * EFFORT, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=40))
def test_never_more_are_kept_than_allowed_and_no_two_requests_share_one(events):
    conversations = Known()
    running: list[Request] = []
    for text, ending, was_begun in events:
        running.append(conversations.begin(said(text)))
        if ending < len(running):
            conversations.end(running.pop(ending).chat_id, was_begun=was_begun)
        ids = [request.chat_id for request in running]
        assert len(set(ids)) == len(ids)
        assert not set(ids) & set(conversations.forgotten)
        assert sum(request.keep_cells for request in running) <= 2
    for request in running:
        conversations.end(request.chat_id, was_begun=True)
    assert len(conversations.titles) <= 2


async def test_callers_beyond_the_slots_compute_only_what_is_new():
    """64 on 8 slots: a chat whose slot another one needs is hibernated."""
    backend = CountingBackend(n_ctx=2048, n_seq_max=8, n_batch=64)
    chats = [[{"role": "user", "content": f"{number:03} asks what is new."}] for number in range(64)]
    totals = [0] * len(chats)
    async with serving(backend) as served:
        for turn, (number, chat) in itertools.product(range(3), enumerate(chats)):
            _, body = await served.post("/v1/chat/completions", {"messages": chat, "max_tokens": 3})
            usage, answer = body["usage"], body["choices"][0]["message"]
            if turn:  # the last token of the answer was not computed
                assert usage["prompt_tokens_details"]["cached_tokens"] >= totals[number] - 1
            totals[number] = usage["total_tokens"]
            chat += [answer, {"role": "user", "content": "And?"}]
