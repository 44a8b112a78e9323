"""Makes any text safe for Qt's layout: adds break opportunities to long runs, replaces special characters.

Pure functions, any thread.
"""

import re

FOLD_AFTER = 500

_LONG_RUN = re.compile(rf"\S{{{FOLD_AFTER}}}(?=\S)")
# U+FDD0.. and U+FFFC mean frames and objects inside a QTextDocument.
_RESERVED = re.compile("[\ufdd0-\ufdef\ufffc\x00]")


def fold(text: str) -> str:
    """Gives long unbroken runs places to wrap: Qt's layout takes quadratic time for one without."""
    clean = without_reserved(text)
    return _LONG_RUN.sub("\\g<0>\u200b", clean) if len(clean) > FOLD_AFTER else clean


def unfold(text: str) -> str:
    return text.replace("\u200b", "")


def without_reserved(text: str) -> str:
    return _RESERVED.sub("\ufffd", text)
