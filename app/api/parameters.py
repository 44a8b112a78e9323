"""How an answer is sampled and where it ends: JSON fields that OpenAI's and llama-server's endpoints share.

Names are llama-server's. A missing or null field means what the model's maker recommends.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Annotated, Any, Literal, TypeVar

from aiohttp import web
from pydantic import Field, PrivateAttr

from app.api.errors import invalid
from app.api.json_body import Body, as_json, read_fields
from app.api.state import client_of, take_model
from app.protocol.errors import InvalidRequestError
from app.protocol.request import Request
from app.protocol.sampling import INTEGERS, MAX_BIAS, MAX_SEED, NEVER, SamplingParams, shown

MAX_STOPS = 64
MAX_STOP_CHARS = 1000
MAX_STOPS_CHARS = 8000  # together
MAX_BIASES = 10_000
MAX_WINDOW = INTEGERS["penalty_last_n"][1]
MAX_BIAS_CHARS = 100_000
MAX_WARNINGS = 16

# llama.cpp's names of what drafts, in common/speculative.cpp.
Drafting = Literal[
    "none", "draft-simple", "draft-eagle3", "draft-mtp", "draft-dflash", "draft-dspark", "ngram-simple",
    "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache",
]  # fmt: skip
MEASURED = ("speculative.n_min", "speculative.p_min", "speculative.type")

# Fields of SamplingParams that are sent in another form.
CONVERTED = (
    "top_k", "penalty_last_n", "dry_penalty_last_n", "dry_sequence_breakers", "json_schema", "logit_bias",
    "seed",
)  # fmt: skip
SAME_NAMES = tuple(one.name for one in fields(SamplingParams) if one.name not in CONVERTED)

Bias = float | bool
BiasPair = Annotated[list[int | str | float | bool], Field(min_length=2, max_length=2)]
Stop = Annotated[str, Field(max_length=MAX_STOP_CHARS)]
Piece = str | int  # text, or a token
Pieces = Annotated[list[Piece], Field(min_length=1, fail_fast=True)]
Prompt = tuple[Piece, ...]


class PromptObject(Body):
    """llama-server's form of a prompt that may have pictures."""

    prompt_string: str | Pieces
    multimodal_data: Any = None


class SamplingFields(Body):
    """Ranges are those of SamplingParams, which names the field it refuses."""

    temperature: float | None = None
    dynatemp_range: float | None = None
    dynatemp_exponent: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    min_keep: int | None = None
    top_n_sigma: float | None = None
    typical_p: float | None = None
    xtc_probability: float | None = None
    xtc_threshold: float | None = None
    repeat_last_n: int | None = None
    repeat_penalty: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    dry_multiplier: float | None = None
    dry_base: float | None = None
    dry_allowed_length: int | None = None
    dry_penalty_last_n: int | None = None
    dry_sequence_breakers: Annotated[list[str], Field(fail_fast=True)] | None = None
    mirostat: int | None = None
    mirostat_tau: float | None = None
    mirostat_eta: float | None = None
    ignore_eos: bool | None = None
    seed: int | None = None
    grammar: str | None = None
    json_schema: dict[str, Any] | None = None
    logit_bias: (
        Annotated[list[BiasPair], Field(max_length=MAX_BIASES, fail_fast=True)]
        | Annotated[dict[str, Bias], Field(max_length=MAX_BIASES)]
        | None
    ) = None
    stop: Stop | Annotated[list[Stop], Field(max_length=MAX_STOPS, fail_fast=True)] | None = None
    speculative_n_max: int | None = Field(None, alias="speculative.n_max", ge=0)
    speculative_n_min: int | None = Field(None, alias="speculative.n_min", ge=0)
    speculative_p_min: float | None = Field(None, alias="speculative.p_min", ge=0, le=1)
    speculative_type: Drafting | None = Field(None, alias="speculative.type")
    _tokens_of: dict[str, list[int]] = PrivateAttr(default_factory=dict)  # of texts in `logit_bias`
    _unknown: list[str] = PrivateAttr(default_factory=list)
    _left_out: list[str] = PrivateAttr(default_factory=list)  # a sentence for each kind of it

    def note_unknown(self, body: dict[str, Any]) -> None:
        """To send null is to leave a field out. All clients send `model`, which may be anything."""
        known = {"model", *(one.alias or name for name, one in type(self).model_fields.items())}
        unknown = (name for name, value in body.items() if value is not None and name not in known)
        self._unknown = list(itertools.islice(unknown, MAX_WARNINGS))
        given = (name for name in MEASURED if body.get(name) not in (None, "none"))
        self._left_out += (f"{name} has no effect: measured times decide what is drafted." for name in given)

    @property
    def warnings(self) -> list[str]:
        """What goes beside the answer: a sentence for each field that had no effect on it."""
        return [f"The field {shown(name)} has no effect here." for name in self._unknown] + self._left_out

    def leave_out(self, where: str, kinds: Iterable[str]) -> None:
        """Says so with the answer. To refuse them would refuse each later request of the chat, too."""
        sentences = (
            f"{where}: {shown(kind)} was left out, which this server does not have."
            for kind in sorted(set(kinds))
        )
        self._left_out += itertools.islice(sentences, MAX_WARNINGS)

    @property
    def max_drafted_tokens(self) -> int | None:
        """In one step. None: as many as pay."""
        return 0 if self.speculative_type == "none" else self.speculative_n_max

    @property
    def stops(self) -> tuple[str, ...]:
        """Raises ApiError. The end of a text is compared with the beginning of each, at every token.

        An empty one stops nothing.
        """
        stops = tuple(filter(None, [self.stop] if isinstance(self.stop, str) else self.stop or ()))
        if sum(map(len, stops)) > MAX_STOPS_CHARS:
            raise invalid(f"stop: the texts may have {MAX_STOPS_CHARS:,} characters together.")
        return stops

    def sampling(self, recommended: SamplingParams, copy: int = 0) -> SamplingParams:
        """For answer number `copy` to the same prompt. Raises InvalidRequestError and ApiError."""
        values = {name: getattr(self, name) for name in SAME_NAMES}
        values["top_k"] = self.top_k if self.top_k is None else max(self.top_k, 0)  # -1 means all, too
        values["penalty_last_n"] = _window("repeat_last_n", self.repeat_last_n)
        values["dry_penalty_last_n"] = _window("dry_penalty_last_n", self.dry_penalty_last_n)
        if self.dry_sequence_breakers is not None:
            values["dry_sequence_breakers"] = tuple(self.dry_sequence_breakers)
        if self.json_schema is not None:
            values["json_schema"] = as_json(self.json_schema)
        values["logit_bias"] = self._token_biases()
        values["seed"] = _seed(recommended.seed if self.seed is None else self.seed, copy)
        return replace(recommended, **{name: value for name, value in values.items() if value is not None})

    def requests_for(
        self,
        recommended: SamplingParams,
        prompts: Sequence[Prompt],
        num_copies: int = 1,
        *,
        max_tokens: int | None,
        num_logprobs: int = 0,
        uses_cache: bool = True,
    ) -> list[Request]:
        """All copies of the first prompt, then those of the second. Raises as `sampling`."""
        samplings = [self.sampling(recommended, copy) for copy in range(num_copies)]
        stops = self.stops
        return [
            Request(
                request_id=uuid.uuid4().hex,
                chat_id="",
                prompt=prompt,
                sampling=samplings[copy],
                max_tokens=max_tokens,
                stop=stops,
                keep_cells=uses_cache and copy == 0,
                shares_prefix=uses_cache,
                num_logprobs=num_logprobs,
                max_drafted_tokens=self.max_drafted_tokens,
            )
            for prompt, copy in itertools.product(prompts, range(num_copies))
        ]

    async def tokenize_biases(self, request: web.Request) -> None:
        """A bias of a text is one of each of its tokens. Raises ApiError."""
        texts = [token for token, _bias in self._bias_pairs() if isinstance(token, str)]
        if sum(map(len, texts)) > MAX_BIAS_CHARS:
            raise invalid(f"logit_bias: the texts may have {MAX_BIAS_CHARS:,} characters together.")
        if texts:
            self._tokens_of = await client_of(request).use_prompts(
                lambda prompts: {text: prompts.tokenize(text, parse_special=False) for text in texts}
            )

    def _token_biases(self) -> tuple[tuple[int, float], ...] | None:
        """A token named twice gets the sum, as in llama-server."""
        if self.logit_bias is None:
            return None
        biases: dict[int, float] = {}
        for token, bias in self._bias_pairs():
            for token_id in self._tokens_of[token] if isinstance(token, str) else [token]:
                biases[token_id] = _sum(biases[token_id], bias) if token_id in biases else bias
        return tuple(biases.items())

    def _bias_pairs(self) -> Iterator[tuple[int | str, float]]:
        pairs = self.logit_bias.items() if isinstance(self.logit_bias, dict) else self.logit_bias or []
        for token, bias in pairs:
            if isinstance(token, str) and token.isdecimal() and len(token) < 10:
                yield int(token), _bias(bias)
            elif isinstance(token, int | str) and not isinstance(token, bool):
                yield token, _bias(bias)
            else:
                raise invalid("logit_bias: a token is named by its id or its text.")


SAMPLING_NAMES = frozenset(one.alias or name for name, one in SamplingFields.model_fields.items())


def listed(prompts: Any) -> list[Any]:
    """A list with a number in it is one prompt, any other a list of prompts."""
    is_list = isinstance(prompts, list) and not any(isinstance(one, int) for one in prompts)
    return prompts if is_list else [prompts]


def pieces_of(prompt: str | list[Piece] | PromptObject) -> Prompt:
    """Raises ApiError."""
    if isinstance(prompt, PromptObject):
        if prompt.multimodal_data:
            raise invalid("This server takes text only: leave multimodal_data out.")
        prompt = prompt.prompt_string
    return (prompt,) if isinstance(prompt, str) else tuple(prompt)


Sampling = TypeVar("Sampling", bound=SamplingFields)


async def read_sampling_fields(request: web.Request, kind: type[Sampling]) -> Sampling:
    """Raises ApiError."""
    fields = await read_fields(request, kind)
    await take_model(request)
    await fields.tokenize_biases(request)
    return fields


def _seed(seed: int | None, copy: int) -> int | None:
    """Clients send seeds of up to 64 bits. A negative one, or llama.cpp's own default, means random."""
    if seed is None or seed < 0 or seed == MAX_SEED + 1:
        return None
    return (seed + copy) % (MAX_SEED + 1)


def _window(name: str, num_tokens: int | None) -> int | None:
    """-1 means the whole context; the largest allowed value is more than that."""
    if num_tokens is not None and not -1 <= num_tokens <= MAX_WINDOW:
        raise InvalidRequestError(f"{name} must be between -1 and {MAX_WINDOW:,}, not {shown(num_tokens)}.")
    return MAX_WINDOW if num_tokens == -1 else num_tokens


def _sum(first: float, second: float) -> float:
    """Many texts may have one token in common."""
    total = first + second
    return total if total == NEVER else max(-MAX_BIAS, min(total, MAX_BIAS))


def _bias(bias: object) -> float:
    """False rules a token out."""
    if bias is False:
        return NEVER
    if bias is True or not isinstance(bias, int | float):
        raise invalid("logit_bias: a bias is a number, or false.")
    return float(bias)
