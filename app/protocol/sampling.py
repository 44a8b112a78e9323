"""How the next token is chosen. Values that would crash or mislead the native library are refused here.

Knows no model: only `check_vocabulary` compares with one. Any thread.
"""

import re
from dataclasses import dataclass

from app.protocol.errors import InvalidRequestError
from app.protocol.grammar import MAX_GRAMMAR_BYTES
from app.system.said import said

NEVER = float("-inf")  # as a logit bias: this token cannot be chosen
MAX_BREAKERS = 16  # llama.cpp reads the whole vocabulary for each
MAX_BREAKER_BYTES = 40  # it would silently cut a longer one
GREEDY_BELOW = 0.001  # logits divided by less would overflow; even a lead of 0.01 is 10 there

INTEGERS = {
    "top_k": (0, 1_000_000),
    "min_keep": (0, 1_000_000),
    "penalty_last_n": (0, 65_536),
    "dry_allowed_length": (0, 65_536),
    "dry_penalty_last_n": (0, 65_536),
    "mirostat": (0, 2),
}
NUMBERS = {
    "temperature": (0.0, 100.0),
    "dynatemp_range": (0.0, 100.0),
    "dynatemp_exponent": (0.0, 10.0),
    "top_n_sigma": (-1.0, 100.0),
    "typical_p": (0.0, 1.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "xtc_probability": (0.0, 1.0),
    "xtc_threshold": (0.0, 1.0),
    "repeat_penalty": (0.01, 100.0),
    "frequency_penalty": (-100.0, 100.0),
    "presence_penalty": (-100.0, 100.0),
    "dry_multiplier": (0.0, 100.0),
    "dry_base": (1.0, 100.0),
    "mirostat_tau": (0.0, 100.0),
    "mirostat_eta": (0.0, 1.0),
}
SURROGATE = re.compile("[\ud800-\udfff]")
MAX_SEED = 2**32 - 2  # 2**32 - 1 is llama.cpp's "draw one"
MAX_BIAS = 1000.0  # far beyond any model's logits; llama.cpp sorts those over 10**8 wrongly


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is chosen. Defaults are llama-server's; `temperature` 0 is greedy.

    Neutral values switch a sampler off: `top_k` 0, `top_p`, `typical_p` and `repeat_penalty` 1, `top_n_sigma`
    0 or less, `xtc_threshold` over a half, and 0 for the rest. Cuts by probability leave at least
    `min_keep` tokens. `mirostat` 1 or 2 takes the place of all that choose among the candidates. `seed` None
    draws a new one for each answer. The same one draws the same answer only if the logits are the same to the
    last bit.

    With `ignore_eos` no token that ends the answer is chosen, unless its grammar allows nothing else.
    `logit_bias` is added to the logits of tokens, by id; NEVER rules one out. The answer follows `grammar`, a
    GBNF text whose rule `root` is the whole answer, or `json_schema`, a JSON Schema as text. What is in them
    is checked with the prompt, since that takes time.
    """

    temperature: float = 0.8
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    top_n_sigma: float = -1.0
    typical_p: float = 1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    min_keep: int = 0
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_last_n: int = 64
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = 64
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    ignore_eos: bool = False
    logit_bias: tuple[tuple[int, float], ...] = ()
    grammar: str = ""
    json_schema: str = ""
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, limits in INTEGERS.items():
            _require_integer(name, getattr(self, name), *limits)
        for name, (low, high) in NUMBERS.items():
            _require_number(name, getattr(self, name), low, high)
        if self.seed is not None:
            _require_integer("seed", self.seed, 0, MAX_SEED)
        if self.dynatemp_range > self.temperature:
            raise InvalidRequestError(
                said(
                    "dynatemp_range must not be larger than temperature: "
                    "{range} is larger than {temperature}.",
                    range=self.dynatemp_range,
                    temperature=self.temperature,
                )
            )
        if not isinstance(self.ignore_eos, bool):
            raise InvalidRequestError(f"ignore_eos must be true or false, not {shown(self.ignore_eos)}.")
        self._check_breakers()
        self._check_logit_bias()
        self._check_grammar()

    @property
    def is_greedy(self) -> bool:
        """Always takes the likeliest token."""
        return self.temperature < GREEDY_BELOW

    @property
    def banned_tokens(self) -> frozenset[int]:
        return frozenset(token_id for token_id, bias in self.logit_bias if bias == NEVER)

    def check_vocabulary(self, n_vocab: int) -> None:
        """Raise InvalidRequestError for tokens that a model of `n_vocab` tokens does not have."""
        for token_id, _bias in self.logit_bias:
            if token_id >= n_vocab:
                raise InvalidRequestError(
                    said(
                        "logit_bias names token {id:,}, but this model has {n_vocab:,} tokens.",
                        id=token_id,
                        n_vocab=n_vocab,
                    )
                )
        if len(self.banned_tokens) == n_vocab:
            raise InvalidRequestError(said("logit_bias rules out every token. Leave at least one."))

    def _check_breakers(self) -> None:
        _require_tuple("dry_sequence_breakers", self.dry_sequence_breakers)
        if len(self.dry_sequence_breakers) > MAX_BREAKERS:
            raise InvalidRequestError(
                said(
                    "dry_sequence_breakers can have at most {limit} entries, not {number}.",
                    limit=MAX_BREAKERS,
                    number=len(self.dry_sequence_breakers),
                )
            )
        for text in self.dry_sequence_breakers:
            _require_text("dry_sequence_breakers", text)
            if not 0 < len(text.encode()) <= MAX_BREAKER_BYTES:
                raise InvalidRequestError(
                    said(
                        "Each of dry_sequence_breakers must have 1 to {limit} bytes, not {text}.",
                        limit=MAX_BREAKER_BYTES,
                        text=repr(text[:50]),
                    )
                )

    def _check_logit_bias(self) -> None:
        _require_tuple("logit_bias", self.logit_bias)
        for entry in self.logit_bias:
            _require_tuple("An entry of logit_bias", entry)
            if len(entry) != 2:
                raise InvalidRequestError(
                    said("logit_bias must be pairs of token id and bias, not {entry}.", entry=str(entry))
                )
            _require_integer("A token id of logit_bias", entry[0], 0, 2**31 - 1)
            if entry[1] != NEVER:
                _require_number("A bias of logit_bias", entry[1], -MAX_BIAS, MAX_BIAS)
        if len({token_id for token_id, _bias in self.logit_bias}) < len(self.logit_bias):
            raise InvalidRequestError(said("logit_bias lists a token twice."))

    def _check_grammar(self) -> None:
        for name in ("grammar", "json_schema"):
            _require_text(name, getattr(self, name))
        if self.grammar and self.json_schema:
            raise InvalidRequestError(
                said("An answer can follow a grammar or a JSON schema, not both. Remove one.")
            )
        if len(self.json_schema) > MAX_GRAMMAR_BYTES:
            raise InvalidRequestError(
                said(
                    "A JSON schema can have at most {limit:,} characters. Simplify it.",
                    limit=MAX_GRAMMAR_BYTES,
                )
            )
        if len(self.grammar) > MAX_GRAMMAR_BYTES:
            raise InvalidRequestError(
                said("A grammar can have at most {limit:,} characters. Simplify it.", limit=MAX_GRAMMAR_BYTES)
            )


def _require_number(name: str, value: object, low: float, high: float) -> None:
    # NaN is in no range, and an integer of any size compares.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:  # type: ignore[operator]
        raise InvalidRequestError(
            said(
                "{name} must be between {low:,} and {high:,}, not {value}.",
                name=name,
                low=low,
                high=high,
                value=shown(value),
            )
        )


def _require_integer(name: str, value: object, low: int, high: int) -> None:
    _require_number(name, value, low, high)
    if not isinstance(value, int):
        raise InvalidRequestError(
            said("{name} must be a whole number, not {value}.", name=name, value=str(value))
        )


def _require_tuple(name: str, value: object) -> None:
    if not isinstance(value, tuple):
        raise InvalidRequestError(f"{name} must be a tuple, not {shown(value)}.")


def _require_text(name: str, value: object) -> None:
    """Text that C can take: no NUL, and valid UTF-8."""
    if not isinstance(value, str):
        raise InvalidRequestError(f"{name} must be text, not {shown(value)}.")
    if "\0" in value or SURROGATE.search(value):
        raise InvalidRequestError(said("{name} contains NUL or a lone surrogate. Remove it.", name=name))


def shown(value: object) -> str:
    """A caller's value for a message, however large it is."""
    if isinstance(value, int) and value.bit_length() > 128:  # Python itself refuses to write out some
        return "a number that long"
    text = str(value) if isinstance(value, int | float) else repr(value)
    return text if len(text) <= 50 else f"{text[:50]}…"
