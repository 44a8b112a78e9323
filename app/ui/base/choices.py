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
    Choice("system", mark("System"), mark("Use the system's colours")),
    Choice("light", mark("Light"), mark("Use the light colours")),
    Choice("dark", mark("Dark"), mark("Use the dark colours")),
)
MOTIONS = (
    Choice("system", mark("As the system"), mark("As the desktop has its animations, on or off.")),
    Choice("full", mark("Full"), mark("Menus fade in, cursors blink.")),
    Choice("reduced", mark("Reduced"), mark("Everything appears at once where it belongs.")),
)
SPEEDS = (
    Choice(Speed.RESPONSIVE, mark("Responsive"), mark("Running answers hardly slow down for a new prompt.")),
    Choice(Speed.BALANCED, mark("Balanced"), mark("Prompts are read faster, answers slow down somewhat.")),
    Choice(Speed.THROUGHPUT, mark("Throughput"), mark("Prompts are read fastest, running answers wait.")),
)
OVERFLOWS = (
    Choice(Overflow.STOP, mark("Stop"), mark("The answer ends there and says so.")),
    Choice(
        Overflow.ROLLING_WINDOW,
        mark("Rolling window"),
        mark("The oldest turns are left out, the system prompt stays."),
    ),
    Choice(
        Overflow.TRUNCATE_MIDDLE,
        mark("Truncate the middle"),
        mark("Beginning and end stay, turns between are left out."),
    ),
)


def overflow_label(overflow: Overflow) -> str:
    """Short enough to stand beside the context meter."""
    label = next(choice.label for choice in OVERFLOWS if choice.value == overflow)
    return tr("Stop when full") if overflow is Overflow.STOP else tr(label)
