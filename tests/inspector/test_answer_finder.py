"""The finder asks, the test answers as the engine would."""

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QObject

from app.inspector.answer_finder import (
    ASKING,
    GONE,
    NO_TEXT,
    OLDER,
    READING,
    AnswerFinder,
    AnswerSource,
    TokenCandidates,
    belongs_to,
    chance,
    probe,
    result_text,
    start_with,
    text_of,
)
from app.inspector.recording import Recording
from app.protocol.commands import ClearCells, Command, DescribeTokens, Restore, TokensOf
from app.protocol.output import FinishReason, Output, SampledToken, TokenLogprob, Usage
from app.protocol.report import Answer, ChatTokens, HibernatedChat, PauseState, SlotSnapshot, SlotState
from app.protocol.request import MAX_LOGPROBS, Message, Request, Role
from tests.fakes import model_info
from tests.inspector.reports import report

TOKENS = ChatTokens("sums", (7, 8, 9, 53, 53), 3, (b"5", b"5"))
READING_REQUEST = Request(
    "reading", "sums", (Message(Role.USER, "34 + 21"),), max_tokens=0, answer_start="55"
)
SOURCE = AnswerSource("sums", "Sums", "55", turn=object(), reading=READING_REQUEST)
FIVE = TokenLogprob(53, b"5", -0.1, 1.0)
END = TokenLogprob(2, b"<|im_end|>", -0.1, 1.0, is_control=True)
EURO = "€".encode()
# A prompt of three tokens, then an answer of which one character takes two tokens and one is a control token.
HALVED = ChatTokens("sums", (7, 8, 9, 20, 21, 22, 2), 3, (b"5 ", EURO[:2], EURO[2:], b""))


def standing(num_generated_tokens: int, state: SlotState = SlotState.WARM) -> tuple[SlotSnapshot, ...]:
    usage = Usage(num_generated_tokens=num_generated_tokens)
    return (SlotSnapshot(0, state, "sums", None, 0, 4, 5, usage=usage),)


class Finder:
    """An AnswerFinder, and what it has asked for."""

    def __init__(self, parent: QObject) -> None:
        self.recording = Recording()
        self.recording.start(model_info())
        self.finder = AnswerFinder(self.recording, parent)
        self.commands: list[Command] = []
        self.requests: list[Request] = []
        self.aborted: list[str] = []
        self.finder.commanded.connect(self.commands.append)
        self.finder.requested.connect(self.requests.append)
        self.finder.aborted.connect(self.aborted.append)

    def hear(self, *answers: Answer, **changes: object) -> None:
        standing_now = {"slots": standing(2), "answers": answers} | changes
        self.recording.append([replace(report(1), **standing_now)])  # type: ignore[arg-type]
        self.finder.read_on()

    def answer(self, reason: FinishReason = FinishReason.LENGTH, **values: object) -> None:
        """The last request ends."""
        request = self.requests[-1]
        output = Output(request.request_id, request.chat_id, finish_reason=reason, **values)  # type: ignore[arg-type]
        self.hear(outputs=(output,))


@pytest.fixture
def asked(qapp: QObject) -> Iterator[Finder]:
    parent = QObject()
    yield Finder(parent)
    parent.deleteLater()


def test_the_engine_is_asked_for_the_tokens_of_the_newest_answer(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    assert asked.commands == [TokensOf("sums")]
    assert asked.finder.message == ASKING
    asked.hear(TOKENS)
    assert asked.finder.tokens == TOKENS
    assert asked.finder.message == ""


def test_the_same_answer_is_asked_for_again_only_when_it_has_another_text(asked: Finder) -> None:
    asked.hear()
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.finder.show(replace(SOURCE))
    assert asked.commands == [TokensOf("sums")]
    asked.finder.show(replace(SOURCE, text="55 and more"))
    assert asked.commands == [TokensOf("sums")] * 2


def test_what_somebody_looks_at_is_asked_once(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.finder.look_at(1)
    assert [request.answer_start for request in asked.requests] == [(53,)]
    asked.answer(logprobs=(SampledToken(FIVE, (FIVE,)),), usage=Usage(num_computed_tokens=1))
    asked.finder.look_at(1)
    asked.hear()
    assert len(asked.requests) == 1
    assert asked.finder.known[1].sampled.chosen is FIVE


def test_behind_the_last_token_the_end_is_what_was_chosen(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.finder.look_at(2)
    asked.answer(FinishReason.STOP, ended_by=SampledToken(END, (END,)))
    assert asked.finder.known[2].sampled.chosen is END


def test_who_looks_elsewhere_calls_the_question_off(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.finder.look_at(0)
    first = asked.requests[-1]
    asked.finder.look_at(1)
    assert asked.aborted == [first.request_id]
    assert len({request.chat_id for request in asked.requests}) == 2  # or the second would seem evicted
    late = Output(first.request_id, first.chat_id, finish_reason=FinishReason.LENGTH)
    asked.hear(outputs=(replace(late, logprobs=(SampledToken(FIVE, (FIVE,)),)),))
    assert not asked.finder.known


def test_a_refusal_is_told_and_not_asked_again(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.finder.look_at(1)
    asked.answer(FinishReason.ERROR, notice="The prompt is too long.")
    asked.hear()
    assert asked.finder.refusals == {1: "The prompt is too long."}
    assert len(asked.requests) == 1


def test_in_a_pause_nothing_is_asked_that_would_be_in_the_next_batch(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS, pause=PauseState(""))
    asked.finder.look_at(1)
    assert asked.requests == []
    asked.hear()  # it goes on
    assert len(asked.requests) == 1


def test_tokens_that_are_gone_can_be_computed_again_from_the_text(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(ChatTokens("sums"))
    assert (asked.finder.message, asked.finder.can_read) == (GONE, True)
    asked.finder.read_again()
    (reading,) = asked.requests
    assert (reading.messages, reading.answer_start) == (READING_REQUEST.messages, "55")
    assert reading.chat_id != "sums"
    assert (asked.finder.message, asked.finder.can_read) == (READING, False)
    asked.answer()
    assert asked.commands[-1] == TokensOf(reading.chat_id)
    asked.hear(replace(TOKENS, chat_id=reading.chat_id))
    assert asked.finder.tokens.token_ids == TOKENS.token_ids
    asked.finder.show(replace(SOURCE, turn=object()))
    assert asked.commands[-2:] == [ClearCells(reading.chat_id), TokensOf("sums")]


def test_the_tokens_of_a_later_answer_are_not_taken_for_this_one(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(replace(TOKENS, pieces=(b"6", b"1")))
    assert not asked.finder.tokens.token_ids
    assert asked.finder.message == GONE


def test_of_an_earlier_answer_only_the_text_is_there(asked: Finder) -> None:
    asked.finder.show(replace(SOURCE, is_newest=False))
    assert asked.commands == []
    assert (asked.finder.message, asked.finder.can_read) == (OLDER, True)


def test_a_chat_without_a_tab_has_no_text_to_compute_again(asked: Finder) -> None:
    asked.finder.show(AnswerSource("of a client", "no tab"))
    asked.hear(ChatTokens("of a client"))
    assert (asked.finder.message, asked.finder.can_read) == (NO_TEXT, False)


def test_an_answer_that_is_written_is_followed_when_it_stands(asked: Finder) -> None:
    asked.hear(slots=standing(2, SlotState.DECODE))
    asked.finder.show(SOURCE)
    asked.hear(TOKENS, slots=standing(2, SlotState.DECODE))
    num_commands = len(asked.commands)
    asked.hear(slots=standing(3, SlotState.DECODE))
    assert len(asked.commands) == num_commands
    asked.hear(slots=standing(4))
    assert asked.commands[num_commands:] == [TokensOf("sums")]
    longer = replace(TOKENS, token_ids=(*TOKENS.token_ids, 54), pieces=(*TOKENS.pieces, b"6"))
    asked.hear(longer, slots=standing(4))
    assert asked.finder.tokens == longer
    assert len(asked.commands) == num_commands + 1


def test_an_answer_that_had_no_tokens_yet_is_asked_for_again_once_it_stands(asked: Finder) -> None:
    asked.finder.show(replace(SOURCE, text=""))
    asked.hear(ChatTokens("sums"), slots=())
    assert asked.finder.message == GONE
    asked.hear(slots=standing(1, SlotState.DECODE))
    asked.hear(slots=standing(2))
    assert asked.commands == [TokensOf("sums"), TokensOf("sums")]
    asked.hear(TOKENS, slots=standing(2))
    assert asked.finder.tokens == TOKENS


def test_tokens_of_another_answer_are_not_asked_for_again_and_again(asked: Finder) -> None:
    asked.hear(slots=standing(2))
    asked.finder.show(SOURCE)
    for _ in range(3):
        asked.hear(replace(TOKENS, pieces=(b"6", b"1")), slots=standing(2))
    assert asked.commands.count(TokensOf("sums")) == 1


def test_a_later_answer_leaves_what_is_looked_at(asked: Finder) -> None:
    asked.hear(slots=standing(2))
    asked.finder.show(SOURCE)
    asked.hear(TOKENS, slots=standing(2))
    asked.hear(replace(TOKENS, pieces=(b"6",)), slots=standing(1))
    assert asked.finder.tokens == TOKENS


def test_control_tokens_are_asked_for_their_names(asked: Finder) -> None:
    asked.hear()
    asked.finder.show(SOURCE)
    asked.hear(replace(TOKENS, token_ids=(*TOKENS.token_ids, 2), pieces=(*TOKENS.pieces, b"")))
    assert asked.commands[-1] == DescribeTokens((2,))


def test_saved_cells_are_brought_back_before_anything_is_asked(asked: Finder) -> None:
    saved = HibernatedChat("sums", 5, 2**20, False)
    asked.finder.show(SOURCE)
    asked.hear(TOKENS, slots=(), hibernated=(saved,))
    asked.finder.look_at(1)
    asked.hear(slots=(), hibernated=(saved,))
    assert asked.commands.count(Restore("sums")) == 1
    assert asked.requests == []
    asked.hear()
    assert len(asked.requests) == 1


def test_without_cells_nothing_is_asked_that_would_compute_the_whole_prompt(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.hear(slots=())
    asked.finder.look_at(1)
    assert asked.requests == []
    assert (asked.finder.message, asked.finder.can_read) == (GONE, True)


def test_nobody_waits_for_an_answer_to_a_panel_that_is_left(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.finder.look_at(0)
    asked.finder.abort()
    assert asked.aborted == [asked.requests[-1].request_id]


def test_another_model_forgets_everything(asked: Finder) -> None:
    asked.finder.show(SOURCE)
    asked.hear(TOKENS)
    asked.recording.start(model_info(name="other"))
    asked.finder.clear(asked.recording)
    asked.finder.read_on()
    assert asked.finder.source is None
    assert not asked.finder.tokens.token_ids


def candidate(token_id: int, text: bytes, before: float, after: float) -> TokenLogprob:
    return TokenLogprob(token_id, text, math.log(before), after)


def test_the_text_is_that_of_the_chat_without_half_a_character() -> None:
    assert text_of(HALVED.pieces) == "5 €"
    assert text_of(HALVED.pieces[:2]) == "5 "


def test_tokens_belong_to_an_answer_whose_text_they_write_or_go_on_with() -> None:
    assert belongs_to(HALVED, AnswerSource("sums", "Sums", "5 €"))
    assert belongs_to(HALVED, AnswerSource("sums", "Sums", "5"))  # more has come since
    assert not belongs_to(HALVED, AnswerSource("sums", "Sums", "6"))
    assert not belongs_to(ChatTokens("sums"), AnswerSource("sums", "Sums"))


def test_a_question_has_the_prompt_and_the_answer_so_far_and_keeps_nothing() -> None:
    request = probe(HALVED, 2, "inspector")
    assert (request.prompt, request.answer_start) == ((7, 8, 9), (20, 21))
    assert (request.max_tokens, request.num_logprobs, request.keep_cells) == (1, MAX_LOGPROBS, False)
    assert request.chat_id == "inspector"


def test_a_fork_starts_with_what_stood_before_and_the_chosen_token() -> None:
    other = candidate(30, b"dollars", 0.1, 0.1)
    assert start_with(HALVED, 1, other) == ("5 dollars", (20, 30))
    half = candidate(31, EURO[:1], 0.1, 0.1)
    assert start_with(HALVED, 1, half) == ("5 ", (20, 31))  # the rest of the character is told later


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (1.0, "100%"),
        (0.99999, ">99.9%"),
        (0.981, "98.1%"),
        (0.00099, "0.099%"),
        (0.00001, "0.001%"),
        (1e-9, "<0.001%"),
    ],
)
def test_a_chance_is_never_said_to_be_all_or_nothing(probability: float, text: str) -> None:
    assert chance(probability) == text


def test_the_result_tells_the_rank_both_probabilities_and_the_cost() -> None:
    likeliest = (candidate(20, b"5", 0.9, 0.98), candidate(30, b"6", 0.05, 0.0))
    found = TokenCandidates(
        SampledToken(likeliest[0], likeliest), Usage(num_computed_tokens=1, num_shared_tokens=41)
    )
    cost = "Cost of this lookup: 1 token computed, 41 shared."
    assert result_text(found, 20) == f"Chosen: rank 1, 90.0% before and 98.0% after the samplers. {cost}"
    assert result_text(found, 30).startswith("Chosen: rank 2, 5.0% before the samplers, ruled out after.")
    assert result_text(found, 99) == f"The chosen token is not among the 2 most likely. {cost}"
    assert result_text(found, None) == cost  # behind the last token nothing was chosen
