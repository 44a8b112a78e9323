"""Labels and explanations of choices about the engine and its chats."""

from dataclasses import dataclass

from app.look.words import mark, tr
from app.protocol.load import Speed
from app.protocol.request import Overflow


@dataclass(frozen=True, slots=True)
class Choice:
    """`sentence` explains its effect. Both are translated when they are shown."""

    value: str
    label: str
    sentence: str


THEMES = (
    Choice("system", mark("System"), ""),
    Choice("light", mark("Light"), ""),
    Choice("dark", mark("Dark"), ""),
)
COLUMNS = (
    Choice("normal", mark("Normal"), ""),
    Choice("wide", mark("Wide"), ""),
    Choice("full", mark("Full width"), ""),
)
MOTIONS = (
    Choice("system", mark("System"), ""),
    Choice("full", mark("Full"), ""),
    Choice("reduced", mark("Reduced"), ""),
)
SPEEDS = (
    Choice(Speed.RESPONSIVE, mark("Responsive"), mark("New prompts hardly slow down running answers.")),
    Choice(
        Speed.BALANCED,
        mark("Balanced"),
        mark("Prompts are processed faster, running answers slow down somewhat."),
    ),
    Choice(
        Speed.THROUGHPUT, mark("Throughput"), mark("Prompts are processed fastest, running answers wait.")
    ),
)
OVERFLOWS = (
    Choice(Overflow.STOP, mark("Stop"), mark("The answer stops and says so.")),
    Choice(
        Overflow.ROLLING_WINDOW,
        mark("Rolling window"),
        mark("Drops the oldest turns, keeps the system prompt."),
    ),
    Choice(
        Overflow.TRUNCATE_MIDDLE,
        mark("Truncate the middle"),
        mark("Keeps the beginning and the end, drops turns in between."),
    ),
)


def overflow_label(overflow: Overflow) -> str:
    """Short enough to stand beside the context meter."""
    label = next(choice.label for choice in OVERFLOWS if choice.value == overflow)
    return tr("Stop when full") if overflow is Overflow.STOP else tr(label)
