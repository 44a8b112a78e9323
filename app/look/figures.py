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
    """Never 100% for something incomplete, nor 0% for something."""
    return percents(part, max(whole - part, 0))[0] if whole > 0 else percents(0)[0]


def percents(*parts: float) -> list[str]:
    """Shares of one whole that stand together: rounded so that they add up to 100."""
    whole = sum(parts) or 1
    shares = [int(100 * part // whole) for part in parts]
    largest_remainders = sorted(range(len(parts)), key=lambda at: -(100 * parts[at] % whole))
    for at in largest_remainders[: 100 - sum(shares)] if any(parts) else ():
        shares[at] += 1
    numbers = (
        100 if part == whole else min(share, 99) or ("<1" if part else 0)
        for share, part in zip(shares, parts, strict=True)
    )
    return [tr("{number}%", number=number) for number in numbers]


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


def time_left_text(seconds: float) -> str:
    """A rough estimate."""
    if seconds < 55:
        return tr_n("{n} second left", "{n} seconds left", max(5, round(seconds / 5) * 5))
    minutes = round(seconds / 60)
    if minutes < 90:
        return tr_n("{n} minute left", "{n} minutes left", minutes)
    return tr_n("{n} hour left", "{n} hours left", round(seconds / 3600))
