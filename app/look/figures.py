"""How numbers are written, in the user's language. Pure functions."""

from app.look.words import locale, tr, tr_n
from app.protocol.report import SlotSnapshot


def count(number: int) -> str:
    return locale().toString(int(number))


def decimal(number: float, places: int) -> str:
    return locale().toString(round(float(number), places), "f", places)


def rate(tokens_per_s: float) -> str:
    """Without a decimal from ten on."""
    return tr("{number} tok/s", number=decimal(tokens_per_s, 1 if 0 < tokens_per_s < 10 else 0))


def seconds(duration: float) -> str:
    places = 2 if duration < 0.1 else 1 if duration < 100 else 0
    return tr("{number} s", number=decimal(duration, places))


def milliseconds(duration: float) -> str:
    return tr("{number} ms", number=decimal(duration, 1 if duration < 100 else 0))


def mebibytes(size_bytes: int) -> str:
    return tr("{number} MiB", number=decimal(size_bytes / 2**20, 1))


def percent(part: float, whole: float) -> str:
    """Never 100% for something incomplete."""
    if whole <= 0:
        return tr("{number}%", number=0)
    return tr("{number}%", number=100 if part >= whole else min(99, int(100 * part / whole)))


def prefilled(slot: SlotSnapshot) -> str:
    """The share of its tokens that a slot holds. A paused answer recomputes its generated tokens, too."""
    return percent(slot.num_cells, slot.num_cells + slot.num_pending_tokens)


def tokens(number: int) -> str:
    return tr_n("{n} token", "{n} tokens", number)


def rows(number: int) -> str:
    return tr_n("{n} row", "{n} rows", number)


def data_size(size_bytes: float) -> str:
    """In GiB if large enough, else MiB."""
    if size_bytes < 2**30:
        return tr("{number} MiB", number=decimal(size_bytes / 2**20, 0 if size_bytes >= 2**20 else 1))
    return tr("{number} GiB", number=decimal(size_bytes / 2**30, 1))


def num_params(number: int) -> str:
    """The number in the form of models' names: 8.2B, 620M."""
    if number < 1e6:
        return tr("{number}K", number=decimal(number / 1e3, 0))
    if number >= 1e9:
        return tr("{number}B", number=decimal(number / 1e9, 1))
    return tr("{number}M", number=decimal(number / 1e6, 0 if number >= 1e7 else 1))
