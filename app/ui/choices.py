"""What can be chosen about the engine and its chats, in words. Pure values."""

from dataclasses import dataclass

from app.engine.types import Overflow, Speed


@dataclass(frozen=True, slots=True)
class Choice:
    """`sentence` says what comes of it."""

    value: str
    label: str
    sentence: str


THEMES = (
    Choice("system", "System", "Use the system's colours"),
    Choice("light", "Light", "Use the light colours"),
    Choice("dark", "Dark", "Use the dark colours"),
)
SPEEDS = (
    Choice(Speed.RESPONSIVE, "Responsive", "Running answers hardly slow down for a new prompt."),
    Choice(Speed.BALANCED, "Balanced", "Prompts are read faster, answers slow down somewhat."),
    Choice(Speed.THROUGHPUT, "Throughput", "Prompts are read fastest, running answers wait."),
)
OVERFLOWS = (
    Choice(Overflow.STOP, "Stop", "The answer ends there and says so."),
    Choice(
        Overflow.ROLLING_WINDOW, "Rolling window", "The oldest turns are left out, the system prompt stays."
    ),
    Choice(
        Overflow.TRUNCATE_MIDDLE, "Truncate the middle", "Beginning and end stay, turns between are left out."
    ),
)
SHARED, ISOLATED = "shared", "isolated"


def memory_choices(n_ctx: int, n_seq_max: int) -> tuple[Choice, Choice]:
    """Nothing is divided silently: what a chat gets of an isolated pool is told. `n_ctx` 0: not known yet."""
    part = f"{n_ctx // n_seq_max:,} tokens ({n_ctx:,} / {n_seq_max})" if n_ctx else "An equal part"
    return (
        Choice(SHARED, "Shared", "One pool for all, and equal beginnings are kept once."),
        Choice(ISOLATED, "Isolated", f"{part} for each slot, nothing shared."),
    )


def overflow_label(overflow: Overflow) -> str:
    """Short enough to stand beside the context meter."""
    return "Stop when full" if overflow is Overflow.STOP else _label_of(overflow)


def _label_of(value: str) -> str:
    return next(choice.label for choice in OVERFLOWS if choice.value == value)
