"""The settings for the window's appearance, read fast enough for the first paint.

`Settings` reads and validates all settings, with a library that takes longer to import than the first paint.
Both have the same values. Any thread.
"""

import json
from pathlib import Path
from typing import Literal, NamedTuple, get_args

MIN_ZOOM, MAX_ZOOM = -4, 16  # points that messages are larger than usual
Theme = Literal["system", "light", "dark"]
Column = Literal["normal", "wide", "full"]
Motion = Literal["system", "full", "reduced"]
_CHOICES = {"theme": get_args(Theme), "column": get_args(Column), "motion": get_args(Motion)}


class AppearanceSettings(NamedTuple):
    """The fields of Settings with the same names, and their defaults."""

    theme: Theme = "system"
    zoom: int = 0
    interface_font: str = ""  # "system": the system's; "": the one that comes with Skein
    reading_font: str = ""  # the same, or a family
    code_font: str = ""
    column: Column = "normal"  # how wide messages may be
    motion: Motion = "system"
    language: str = ""  # a code such as "de"; "": the system's
    enter_sends: bool = True  # else Ctrl+Enter does


USUAL_APPEARANCE = AppearanceSettings()


def read_appearance(path: Path) -> AppearanceSettings:
    """From the settings file. Missing or invalid values get their defaults."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return USUAL_APPEARANCE
    if not isinstance(stored, dict):
        return USUAL_APPEARANCE
    kept = {name: stored[name] for name in AppearanceSettings._fields if name in stored}
    return AppearanceSettings(**{name: value for name, value in kept.items() if _is_good(name, value)})


def _is_good(name: str, value: object) -> bool:
    if name in _CHOICES:
        return value in _CHOICES[name]
    if name == "zoom":
        return type(value) is int and MIN_ZOOM <= value <= MAX_ZOOM
    return type(value) is type(AppearanceSettings._field_defaults[name])
