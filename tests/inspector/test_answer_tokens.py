import math

import pytest

from app.inspector.answer_tokens import (
    AnswerSource,
    Candidates,
    belongs_to,
    chance,
    probe,
    result_text,
    start_with,
    text_of,
)
from app.protocol.output import SampledToken, TokenLogprob, Usage
from app.protocol.report import ChatTokens
from app.protocol.request import MAX_LOGPROBS

EURO = "€".encode()
# A prompt of three tokens, then an answer of which one character takes two tokens and one is a control token.
TOKENS = ChatTokens("sums", (7, 8, 9, 20, 21, 22, 2), 3, (b"5 ", EURO[:2], EURO[2:], b""))


def candidate(token_id: int, text: bytes, before: float, after: float) -> TokenLogprob:
    return TokenLogprob(token_id, text, math.log(before), after)


def test_the_text_is_that_of_the_chat_without_half_a_character() -> None:
    assert text_of(TOKENS.pieces) == "5 €"
    assert text_of(TOKENS.pieces[:2]) == "5 "


def test_tokens_belong_to_an_answer_whose_text_they_write_or_go_on_with() -> None:
    assert belongs_to(TOKENS, AnswerSource("sums", "Sums", "5 €"))
    assert belongs_to(TOKENS, AnswerSource("sums", "Sums", "5"))  # more has come since
    assert not belongs_to(TOKENS, AnswerSource("sums", "Sums", "6"))
    assert not belongs_to(ChatTokens("sums"), AnswerSource("sums", "Sums"))


def test_a_question_has_the_prompt_and_the_answer_so_far_and_keeps_nothing() -> None:
    request = probe(TOKENS, 2, "inspector")
    assert (request.prompt, request.answer_start) == ((7, 8, 9), (20, 21))
    assert (request.max_tokens, request.num_logprobs, request.keep_cells) == (1, MAX_LOGPROBS, False)
    assert request.chat_id == "inspector"


def test_a_fork_starts_with_what_stood_before_and_the_chosen_token() -> None:
    other = candidate(30, b"dollars", 0.1, 0.1)
    assert start_with(TOKENS, 1, other) == ("5 dollars", (20, 30))
    half = candidate(31, EURO[:1], 0.1, 0.1)
    assert start_with(TOKENS, 1, half) == ("5 ", (20, 31))  # the rest of the character is told later


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
    found = Candidates(
        SampledToken(likeliest[0], likeliest), Usage(num_computed_tokens=1, num_shared_tokens=41)
    )
    cost = "Cost of this lookup: 1 token computed, 41 shared."
    assert result_text(found, 20) == f"Chosen: rank 1, 90.0% before and 98.0% after the samplers. {cost}"
    assert result_text(found, 30).startswith("Chosen: rank 2, 5.0% before the samplers, ruled out after.")
    assert result_text(found, 99) == f"The chosen token is not among the 2 most likely. {cost}"
    assert result_text(found, None) == cost  # behind the last token nothing was chosen
