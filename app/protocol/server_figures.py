"""What a server that another program runs tells of its work. Frozen, so any thread may hold it."""

from dataclasses import dataclass
from enum import StrEnum


class FigureKind(StrEnum):
    RUNNING = "running"  # requests
    WAITING = "waiting"
    KV_USE = "kv use"  # share of its KV cells
    PREFIX_HITS = "prefix hits"  # share of the newest prompt tokens that were cached
    BATCH = "batch"  # a step's tokens, or its busy slots
    ACCEPTED = "accepted"  # share of draft tokens
    PROMPT_RATE = "prompt rate"  # tokens a second
    ANSWER_RATE = "answer rate"
    FIRST_TOKEN_S = "first token"


@dataclass(frozen=True, slots=True)
class ServerFigure:
    """`value` None: nothing of it happened since it was asked before. `source` is how it is called there."""

    kind: FigureKind
    value: float | None
    source: str


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """At one moment. A kind that is missing is not told by this server."""

    program: str  # "vLLM 0.11.0"; empty: unknown
    figures: tuple[ServerFigure, ...] = ()
