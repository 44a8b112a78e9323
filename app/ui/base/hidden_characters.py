"""Makes characters visible that are invisible but change how a text reads: direction overrides, tag letters,
zero-width characters, controls. Pure functions, any thread.

What normal writing needs stays: joiners in emoji, Persian and Indic words, the flags that are spelled in tag
letters, direction marks (which turn nothing around).
"""

import re

_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f"
_HIDDEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls but tab, line feed, carriage return, next line
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PATTERN = re.compile(f"({_FLAG})|([{_HIDDEN}])")
BADGE = re.compile("⟦U\\+[0-9A-F]{4,6}⟧")


def mark_hidden(text: str) -> str:
    """The same with each hidden character spelled out: `⟦U+202E⟧`."""
    return _PATTERN.sub(lambda found: found[1] or f"⟦U+{ord(found[2]):04X}⟧", text)


def num_hidden(text: str) -> int:
    return sum(1 for found in _PATTERN.finditer(text) if found[2])


def without_hidden(text: str) -> str:
    return _PATTERN.sub(lambda found: found[1] or "", text)
