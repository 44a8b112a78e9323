"""An answer as tokens, and the request that probes one place of it. No widgets. Any thread."""

import codecs
import math
import uuid
from dataclasses import dataclass

from app.look.figures import count, decimal, tokens
from app.look.words import sentences, tr
from app.protocol.output import SampledToken, TokenLogprob, Usage
from app.protocol.report import ChatTokens
from app.protocol.request import MAX_LOGPROBS, Request


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """An answer of the window, to be inspected.

    `turn` is the window's handle for it, `text` its shown text. `reading`, if there is one, recomputes the
    answer in a chat of its own. The engine knows the exact tokens of the newest answer only.
    """

    chat_id: str
    title: str
    text: str = ""
    turn: object = None
    reading: Request | None = None
    is_newest: bool = True


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates at one place of an answer, and the cost of computing them."""

    sampled: SampledToken
    usage: Usage


def text_of(pieces: tuple[bytes, ...]) -> str:
    """The text as in the chat: without an incomplete character at the end."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(b"".join(pieces))


def belongs_to(tokens: ChatTokens, source: AnswerSource) -> bool:
    """Whether these are the tokens of this answer: another may have been requested since."""
    return bool(tokens.token_ids) and text_of(tokens.pieces).startswith(source.text)


def probe(tokens: ChatTokens, place: int, chat_id: str) -> Request:
    """A request for the candidates at this place of the answer. Shares cells that are held."""
    start = tokens.num_prompt_tokens
    return Request(
        request_id=uuid.uuid4().hex,
        chat_id=chat_id,
        prompt=tokens.token_ids[:start],
        answer_start=tokens.token_ids[start : start + place],
        sampling=tokens.sampling,
        max_tokens=1,
        keep_cells=False,
        num_logprobs=MAX_LOGPROBS,
    )


def start_with(tokens: ChatTokens, place: int, chosen: TokenLogprob) -> tuple[str, tuple[int, ...]]:
    """The answer up to this place plus `chosen`, as text and tokens."""
    start = tokens.num_prompt_tokens
    token_ids = (*tokens.token_ids[start : start + place], chosen.token_id)
    return text_of((*tokens.pieces[:place], chosen.text)), token_ids


def chance(probability: float) -> str:
    """Never rounded to 0% or 100%."""
    share = 100 * probability
    if share >= 99.95:
        return "100%" if probability >= 1 else f">{decimal(99.9, 1)}%"
    if share >= 0.1:
        return f"{decimal(share, 1)}%"
    return f"{decimal(share, 3)}%" if share >= 0.001 else f"<{decimal(0.001, 3)}%"


def result_text(found: Candidates, chosen_id: int | None) -> str:
    """The token at the place, its probability, and the cost of computing it."""
    return sentences(_chosen_text(found.sampled, chosen_id), _cost_text(found.usage))


def _chosen_text(sampled: SampledToken, chosen_id: int | None) -> str:
    if chosen_id is None:
        return ""
    for rank, one in enumerate(sampled.likeliest, start=1):
        if one.token_id == chosen_id:
            before = chance(math.exp(one.logprob))
            if not one.probability:
                return tr(
                    "Chosen: rank {rank}, {before} before the samplers, ruled out after.",
                    rank=rank,
                    before=before,
                )
            return tr(
                "Chosen: rank {rank}, {before} before and {after} after the samplers.",
                rank=rank,
                before=before,
                after=chance(one.probability),
            )
    return tr("The chosen token is not among the {number} most likely.", number=len(sampled.likeliest))


def _cost_text(usage: Usage) -> str:
    held = usage.num_reused_tokens + usage.num_shared_tokens + usage.num_restored_tokens
    return tr(
        "Cost of this lookup: {computed} computed, {shared} shared.",
        computed=tokens(usage.num_computed_tokens),
        shared=count(held),
    )
