"""What an option is: its texts and choices, and the kind, bounds and default of its field. Values.

Also what else a page of the settings is made of; its texts are in setting_list.py.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.look.words import mark, tr
from app.protocol.load import Speed
from app.protocol.model import ModelInfo
from app.protocol.request import Overflow
from app.settings.settings import Settings


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
    Choice(
        Overflow.SUM_UP,
        mark("Sum up"),
        mark("A summary takes the place of earlier messages, which stay in the chat."),
    ),
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
    short = {Overflow.STOP: mark("Stop when full"), Overflow.SUM_UP: mark("Sum up when full")}
    return tr(short.get(overflow, label))


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about this computer and its model."""

    settings: Settings
    model: ModelInfo | None
    num_cores: int
    why_not_kept: str = ""  # why cells of chats cannot be kept, if that failed


@dataclass(frozen=True, slots=True)
class Setting:
    """`sentence` says what it does. `word` is shown for zero, for none, or for an empty text.

    `note` describes its effect on this machine. With a `word_for_zero`, `word` is for None only.
    """

    name: str  # of the field of Settings
    label: str
    sentence: str
    word: str = ""
    word_for_zero: str = ""
    step: float = 1
    choices: Sequence[Choice] = ()
    named: Callable[[], Mapping[Any, str]] | None = None  # values and their names, if known only at run time
    folder: Callable[[], Path] | None = None  # the one that None means
    check: Callable[[Any], str] | None = None  # says what is wrong with a value
    on: int = 0  # of a number that is a switch: its value when switched on
    is_long: bool = False  # several lines of text
    is_grouped: bool = True  # a number with its thousands apart
    note: Callable[[Facts], str] | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """`kind` is the type without None. `low` and `high` bound a number; `values` are the possible ones."""

    kind: type
    default: Any
    is_optional: bool = False
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    text: str


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A command of the menus, by its name, with a button."""

    name: str


@dataclass(frozen=True, slots=True)
class HubToken:
    """Where the token of the hub is given; it goes to the keyring, and is no setting."""


@dataclass(frozen=True, slots=True)
class SettingPage:
    name: str
    title: str
    icon: str
    rows: Sequence[Setting | Remark | CommandRow | HubToken]


def field_of(name: str, settings: type[BaseModel] = Settings) -> Field:
    info = settings.model_fields[name]
    annotation, limits, is_optional = _unwrapped(info.annotation, list(info.metadata))
    values = get_args(annotation) if get_origin(annotation) is Literal else ()
    return Field(
        kind=str if values else get_origin(annotation) or annotation,
        default=info.get_default(call_default_factory=True),
        is_optional=is_optional,
        low=_bound(limits, "ge"),
        high=_bound(limits, "le"),
        values=values,
    )


def _unwrapped(annotation: Any, limits: list[Any]) -> tuple[Any, list[Any], bool]:
    is_optional = False
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
        is_optional = True
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
        for one in metadata:
            limits += one.metadata if isinstance(one, FieldInfo) else [one]
    return annotation, limits, is_optional


def _bound(limits: list[Any], name: str) -> float | None:
    return next((getattr(limit, name) for limit in limits if hasattr(limit, name)), None)
