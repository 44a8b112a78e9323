"""What strangers say of themselves, as text that cannot deceive: nothing that controls, hides or turns text.

Pure functions. Any thread.
"""

import re
import unicodedata
from typing import Any

# Marks that turn the direction of what follows, and the invisible letters of tags.
_DECEIVING = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_KEPT = "\n\t"


def plain(text: object, max_chars: int) -> str:
    """Cut, if it is longer; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    text = _DECEIVING.sub("", text[: 2 * max_chars].replace("\r\n", "\n"))
    kept = (one for one in text if one in _KEPT or unicodedata.category(one) not in ("Cc", "Cs", "Cn"))
    return "".join(kept)[:max_chars]


def plain_line(text: object, max_chars: int) -> str:
    """The same in one line."""
    return " ".join(plain(text, max_chars).split())


def is_plain_name(name: object, max_chars: int) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name) <= max_chars
        and name.isprintable()
        and plain(name, 999) == name
    )


def name_for_model(name: str) -> str:
    """The form in which a model may be told of it."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]


def depth_of(value: Any, most: int) -> int:
    """How deep JSON is nested; `most` where it is as deep or deeper."""
    depth, level = 0, [value]
    while level and depth < most:
        depth += 1
        level = [
            one
            for each in level
            if isinstance(each, dict | list)
            for one in (each.values() if isinstance(each, dict) else each)
        ]
    return depth
