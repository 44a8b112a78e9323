"""What a chat that outgrew its context leaves out: never the system prompt, never the newest question."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.prompts.overflow import (
    context_limit,
    left_out,
    longer_chats_need,
    rolling_window,
    too_long,
    truncate_middle,
)
from app.protocol.request import Message, Overflow, Request, Role
from tests.fakes import model_info

SYSTEM = Message(Role.SYSTEM, "Be brief. " * 3)
MAX_TOKENS = 200
MAX_OPENING_TOKENS = 80


def user(text: str) -> Message:
    return Message(Role.USER, text)


def assistant(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


def measure(messages: tuple[Message, ...]) -> int:
    """As a template that writes nine letters around each message, and a tokenizer with one token a letter."""
    return sum(len(message.content) + 9 for message in messages)


def rolling(messages: tuple[Message, ...], max_tokens: int = MAX_TOKENS) -> tuple[Message, ...]:
    return rolling_window(messages, measure, max_tokens)


def middle(messages: tuple[Message, ...], max_tokens: int = MAX_TOKENS) -> tuple[Message, ...]:
    return truncate_middle(messages, measure, len, max_tokens, MAX_OPENING_TOKENS)


def conversation(num_turns: int, *, num_letters: int = 10) -> tuple[Message, ...]:
    """A system prompt, questions with answers, and a last question."""
    turns = [
        message
        for turn in range(num_turns - 1)
        for message in (user(f"q{turn} ".ljust(num_letters, "u")), assistant(f"a{turn}".ljust(num_letters)))
    ]
    return (SYSTEM, *turns, user("and now?"))


texts = st.text(alphabet="ab \n", max_size=60)
long_texts = texts | st.integers(200, 5000).map(lambda length: ("words and\nlines " * 400)[:length])


@st.composite
def chats(draw: st.DrawFn, text: st.SearchStrategy[str] = texts) -> tuple[Message, ...]:
    """Any chat that ends with a question: with or without a system prompt, a greeting, or some answer."""
    begin = draw(st.sampled_from([(), (SYSTEM,), (SYSTEM, SYSTEM), (SYSTEM, assistant("Hello!"))]))
    roles = draw(st.lists(st.sampled_from([Role.USER, Role.ASSISTANT, Role.ASSISTANT]), max_size=30))
    turns = [user(draw(text)), *(Message(role, draw(text)) for role in roles), user(draw(text))]
    return (*begin, *turns)


def without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.role is not Role.SYSTEM)


def system_of(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.role is Role.SYSTEM)


def turns_of(messages: tuple[Message, ...]) -> list[tuple[Message, ...]]:
    """Cut before every question but the first."""
    messages = without_system(messages)
    questions = [index for index, message in enumerate(messages) if message.role is Role.USER]
    return [messages[begin:end] for begin, end in pairwise([0, *questions[1:], len(messages)])]


@pytest.mark.parametrize("shorten", [rolling, middle])
@given(chat=chats())
def test_a_chat_that_fits_is_shown_as_it_is(shorten, chat):
    assert shorten(chat, measure(chat)) == chat


@given(chats())
def test_the_rolling_window_drops_whole_turns_from_the_beginning(chat):
    shown = rolling(chat)
    turns, shown_turns = turns_of(chat), turns_of(shown)
    assert shown[: len(system_of(chat))] == system_of(chat) == system_of(shown)
    assert shown_turns == turns[-len(shown_turns) :]
    assert measure(shown) <= MAX_TOKENS or len(shown_turns) == 1
    if len(shown_turns) < len(turns):
        assert without_system(shown)[0].role is Role.USER


@given(chats())
def test_the_rolling_window_shows_most_of_what_fits(chat):
    shown = rolling(chat)
    dropped = turns_of(chat)[: -len(turns_of(shown))]
    while dropped and measure((*system_of(chat), *dropped[-1], *without_system(shown))) <= MAX_TOKENS:
        shown = (*system_of(chat), *dropped.pop(), *without_system(shown))
    # In characters, with the 16 that a template is reckoned to write around each message.
    size, largest = (
        sum(len(message.content) + 16 for message in without_system(messages))
        for messages in (rolling(chat), shown)
    )
    assert size >= largest * 0.75


@given(chats(long_texts))
def test_truncating_the_middle_keeps_the_first_and_the_newest_turn(chat):
    shown = middle(chat)
    turns, shown_turns = turns_of(chat), turns_of(shown)
    assert shown[: len(system_of(chat))] == system_of(chat) == system_of(shown)
    assert [message.role for message in shown_turns[0]] == [message.role for message in turns[0]]
    assert [message.role for message in shown_turns[-1]] == [message.role for message in turns[-1]]
    assert shown_turns[1:-1] == turns[len(turns) - len(shown_turns) + 1 : -1]
    for message, whole in zip((*shown_turns[0], *shown_turns[-1]), (*turns[0], *turns[-1]), strict=True):
        assert message == whole or "left out …]" in message.content
        assert len(message.content) <= len(whole.content)


@given(chats(long_texts), st.sampled_from([rolling, middle]), st.sampled_from([200, 400, 1000]))
def test_what_is_shown_would_be_shown_again(chat, shorten, max_tokens):
    shown = shorten(chat, max_tokens)
    if measure(shown) <= max_tokens:
        assert shorten(shown, max_tokens) == shown


@given(chats(long_texts))
def test_truncating_the_middle_fits_wherever_the_shortest_cut_would(chat):
    shown = middle(chat, 2000)
    assert measure(shown) <= 2000 or all(len(message.content) < 120 for message in turns_of(shown)[-1])


# Steady: what was shown in the last turn is shown again, so that its cells are of use.


@pytest.mark.parametrize("num_letters", [10, 37, 100])
@pytest.mark.parametrize("shorten", [rolling, middle])
def test_most_turns_drop_nothing_that_the_turn_before_showed(shorten, num_letters):
    room_for_20_turns = 20 * 2 * (num_letters + 9)
    chat = conversation(300, num_letters=num_letters)
    shown = [shorten(chat[:end], room_for_20_turns) for end in range(2, len(chat) + 1, 2)]
    overflowing = [messages for turn, messages in enumerate(shown) if len(messages) < 2 * turn + 2]
    kept = sum(after[: len(before)] == before for before, after in pairwise(overflowing))
    assert kept > len(overflowing) * 0.6


def test_an_opening_is_cut_at_the_same_place_every_turn():
    document = user("A long document. " * 100)
    chat = [SYSTEM, document]
    openings = set()
    for turn in range(60):
        shown = middle(tuple(chat), 300)
        assert measure(shown) <= 300
        openings.add(shown[1] if turn else document)  # alone, it gets all the room there is
        chat += [assistant(f"answer {turn}"), user(f"question {turn}")]
        newest_but_one = middle(tuple(chat), 300)[-3:-1]
    assert len(openings) == 2
    assert newest_but_one == tuple(chat[-3:-1])  # the chat remembers more than the document


def test_a_growing_answer_does_not_move_the_cut_of_the_opening():
    chat = (SYSTEM, user("A long document. " * 100), assistant("Read."), user("And?"))
    assert len({middle(chat, max_tokens)[1] for max_tokens in (300, 250, 200)}) == 1


@pytest.mark.parametrize("shorten", [rolling, middle])
@pytest.mark.parametrize("letters_per_token", [0.3, 1, 4, 30])
def test_few_versions_are_measured_and_none_that_is_far_too_long(shorten, letters_per_token):
    chat = conversation(20_000, num_letters=100)
    measured = []

    def measure_some(messages: tuple[Message, ...]) -> int:
        measured.append(measure(messages))
        return int(measured[-1] / letters_per_token)

    if shorten is rolling:
        rolling_window(chat, measure_some, 2000)
    else:
        truncate_middle(chat, measure_some, len, 2000, 600)
    assert len(measured) <= 8
    assert max(measured) <= 2000 * max(letters_per_token, 4) * 1.1


class OddMeasure:
    """Tokens that do not go with letters: each message says what it costs, and what it costs as the first."""

    def __init__(self) -> None:
        self.num_measured = 0

    def __call__(self, messages: tuple[Message, ...]) -> int:
        self.num_measured += 1
        as_first = int(messages[0].content.split()[1])
        return as_first + sum(int(message.content.split()[0]) for message in messages)


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 50]), st.sampled_from([0, 0, 100])), min_size=2, max_size=200)
)
def test_a_later_start_is_not_taken_where_it_takes_more_tokens(costs):
    odd = OddMeasure()
    shown = rolling_window(tuple(user(f"{cost} {as_first}") for cost, as_first in costs), odd, MAX_TOKENS)
    assert odd(shown) <= MAX_TOKENS
    assert odd.num_measured <= 20


def test_turns_that_take_no_tokens_are_not_tried_one_by_one():
    """Such as old thinking that a template leaves out."""
    odd = OddMeasure()
    chat = (user("2 0"), *[user("0 0")] * 1000, user(f"{MAX_TOKENS - 1} 0"))
    assert odd(rolling_window(chat, odd, MAX_TOKENS)) <= MAX_TOKENS
    assert odd.num_measured <= 25


# Cut texts.


def only(text: str, max_tokens: int) -> str:
    shown = middle((user(text),), max_tokens)
    return shown[0].content


def test_a_cut_says_how_much_is_gone_and_where():
    whole = "".join(f"Line {number} of many.\n" for number in range(500))
    begin, between, end = re.split(r"\[… about ([0-9,]+) tokens left out …\]\n", only(whole, 400))
    assert whole.startswith(begin)
    assert whole.endswith(end)
    assert begin.endswith(" of many.\n")
    assert end.startswith("Line 4")
    assert len(begin) == pytest.approx(len(end), abs=40)
    num_left_out = len(whole) - len(begin) - len(end)
    assert abs(int(between.replace(",", "")) - num_left_out) <= 2  # borders


def test_words_stay_whole_where_there_are_no_lines():
    begin, _, end = only("elephant " * 500 + "elephant", 400).partition("[… about")
    assert set(begin.split()) == {"elephant"}
    assert set(end.partition("…]")[2].split()) == {"elephant"}


def test_a_text_without_words_is_cut_anyway():
    text = only("x" * 5000, 400)
    assert len(text) > 200
    assert measure((user(text),)) <= 400


def test_the_longest_texts_are_cut_to_one_length_and_the_others_not_at_all():
    chat = (user("a " * 600), assistant("Read."), user("b " * 900))
    first, answer, last = middle(chat, 500)
    assert answer == chat[1]
    assert "left out" in first.content
    assert "left out" in last.content


def test_no_cut_makes_a_text_longer():
    for num_letters in range(60, 300):
        chat = (user("a " * 600), assistant("b" * num_letters), user("c " * 600))
        assert len(middle(chat, 500)[1].content) <= num_letters


def test_the_system_prompt_is_never_cut():
    system = Message(Role.SYSTEM, "law " * 100)
    shown = middle((system, user("short"), assistant("s"), user("b " * 900)), 600)
    assert shown[0] == system
    assert measure(shown) <= 600
    assert middle((system, user("short")), 100) == (system, user("short"))  # nothing can be done


# Words for the user.


@pytest.mark.parametrize(
    ("overflow", "num_dropped", "num_cut", "what"),
    [
        (Overflow.ROLLING_WINDOW, 4, 0, "The oldest 4 messages no longer fit the context and were"),
        (Overflow.ROLLING_WINDOW, 1, 0, "The oldest message no longer fits the context and was"),
        (
            Overflow.TRUNCATE_MIDDLE,
            2,
            0,
            "2 messages in the middle of this chat no longer fit the context and were",
        ),
        (Overflow.TRUNCATE_MIDDLE, 0, 1, "The middle of a long text no longer fits the context and was"),
        (
            Overflow.TRUNCATE_MIDDLE,
            3,
            2,
            (
                "3 messages in the middle of this chat and the middle of 2 long texts no longer fit the "
                "context and were"
            ),
        ),
    ],
)
def test_one_sentence_says_what_was_left_out(overflow, num_dropped, num_cut, what):
    chat = tuple(user(f"text {number}") for number in range(8))
    shown = tuple(replace(message, content=message.content + " cut") for message in chat[:num_cut])
    shown += chat[num_cut + num_dropped :]
    assert left_out(chat, shown, overflow) == f"{what} left out."


def test_there_is_nothing_to_say_where_nothing_was_left_out():
    chat = conversation(3)
    assert left_out(chat, chat, Overflow.ROLLING_WINDOW) == ""


def test_a_chat_may_have_a_limit_of_its_own_below_the_models():
    model = model_info(n_ctx=512)
    chat = Request("r", "c", (user("hi"),))
    assert context_limit(chat, model) == 512
    assert context_limit(replace(chat, max_context_tokens=100), model) == 100
    assert context_limit(replace(chat, max_context_tokens=1000), model) == 512
    assert context_limit(chat, model_info(n_ctx=512, n_ctx_train=256)) == 256


def test_a_refusal_offers_only_what_can_work():
    chat = Request("r", "c", (user("hi"),))
    trained = model_info(n_ctx=512, n_ctx_train=512)
    refusal = str(too_long(1000, chat, trained))
    assert "larger" not in refusal
    assert "rolling" not in refusal
    assert "leave out the middle" in refusal
    cut = replace(chat, overflow=Overflow.TRUNCATE_MIDDLE)
    assert "leave out the middle" not in str(too_long(1000, cut, trained))
    assert "leave out the middle" not in str(too_long(1000, cut, model_info(n_ctx=512)))


def test_a_refusal_names_the_limit_that_counts_and_what_can_be_done():
    model = model_info(n_ctx=512)
    chat = Request("r", "c", (user("hi"),))
    own = replace(chat, max_context_tokens=100)
    assert "needs 1,000 tokens, but the context holds 512: choose a larger one" in str(
        too_long(1000, chat, model)
    )
    assert "needs 1,000 tokens, but its own limit is 100: raise that" in str(too_long(1000, own, model))
    assert model.longer_chats_need in longer_chats_need(chat, model)
    assert "raise this chat's own limit" in longer_chats_need(own, model)
    assert "choose what to leave out" in longer_chats_need(own, model)
    assert "Choose" not in longer_chats_need(replace(own, overflow=Overflow.ROLLING_WINDOW), model)
