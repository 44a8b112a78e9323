"""How the window looks, as the settings say: read in a moment, so that it is known before the first paint.

`Settings` reads and checks all of them, with a library that takes longer to import than the window takes to
be shown. Where both know a value they agree. Any thread.
"""

import json
from pathlib import Path
from typing import NamedTuple

_CHOICES = {"theme": ("system", "light", "dark"), "motion": ("system", "full", "reduced")}


class Looks(NamedTuple):
    """As in Settings."""

    theme: str = "system"
    zoom: int = 0
    reading_font: str = ""
    code_font: str = ""
    motion: str = "system"
    language: str = ""
    enter_sends: bool = True


USUAL_LOOKS = Looks()


def read_looks(path: Path) -> Looks:
    """From the settings file. What is not there, or cannot be used, is as it is by default."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return USUAL_LOOKS
    if not isinstance(stored, dict):
        return USUAL_LOOKS
    kept = {name: stored[name] for name in Looks._fields if name in stored}
    return Looks(**{name: value for name, value in kept.items() if _is_good(name, value)})


def _is_good(name: str, value: object) -> bool:
    if name in _CHOICES:
        return value in _CHOICES[name]
    if name == "zoom":
        return type(value) is int and -4 <= value <= 16
    return type(value) is type(Looks._field_defaults[name])
