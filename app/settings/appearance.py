"""The settings for the window's appearance, read fast enough for the first paint.

`Settings` reads and validates all settings, with a library that takes longer to import than the first paint.
Both have the same values. Any thread.
"""

import json
from pathlib import Path
from typing import NamedTuple

_CHOICES = {"theme": ("system", "light", "dark"), "motion": ("system", "full", "reduced")}


class AppearanceSettings(NamedTuple):
    """The fields of Settings with the same names."""

    theme: str = "system"
    zoom: int = 0
    reading_font: str = ""
    code_font: str = ""
    motion: str = "system"
    language: str = ""
    enter_sends: bool = True


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
        return type(value) is int and -4 <= value <= 16
    return type(value) is type(AppearanceSettings._field_defaults[name])
