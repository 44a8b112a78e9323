"""What a page of the settings is made of. Values; the texts are in setting_list.py. GUI thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.protocol.model import ModelInfo
from app.settings.settings import Settings
from app.ui.base.choices import Choice


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
    is_long: bool = False  # several lines of text
    is_grouped: bool = True  # a number with its thousands apart
    note: Callable[[Facts], str] | None = None


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
class Page:
    name: str
    title: str
    icon: str
    rows: Sequence[Setting | Remark | CommandRow | HubToken]
