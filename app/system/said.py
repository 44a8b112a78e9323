"""Translatable texts from Qt-free code. Any thread."""

import json
from collections.abc import Callable
from string import Formatter
from typing import Any

MAX_CHARS = 20_000  # of all that is made from one JSON value: the texts, and those in them
MAX_DEPTH = 16  # of texts in texts
MAX_NUMBER = 10**18
MAX_NUMBER_CHARS = 32  # of one, as we write them
_SPECS = ("", ",", ".0f", ".1f")


class Said(str):
    """An English text that remembers its template and values, also through `str()`."""

    __slots__ = ("template", "values")

    template: str
    values: dict[str, Any]

    def __str__(self) -> "Said":
        return self


def packed(text: str) -> Any:
    """For JSON; `unpacked` restores it in another process."""
    if not isinstance(text, Said):
        return text
    values = {name: packed(value) if isinstance(value, str) else value for name, value in text.values.items()}
    return {"text": text.template, "values": values}


def unpacked(packed_text: Any) -> str:
    """Raises ValueError for invalid or unsafe input, since other processes are not trusted."""
    try:
        _check(packed_text)
        text: str = _made(packed_text)
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise ValueError("this is no text") from error
    return text


def to_text(text: str) -> str:
    """For a file: plain text, or JSON with template and values. Plain text that looks like JSON is packed."""
    is_plain = not isinstance(text, Said) or not text.values
    if is_plain and not text.startswith("{"):
        return text
    return json.dumps(packed(said(text) if is_plain else text), ensure_ascii=False)


def from_text(kept: str) -> str:
    """What `to_text` was given; cut, if it is longer than any text of ours. Other JSON stays as it is."""
    if not kept.startswith("{") or len(kept) > MAX_CHARS:
        return kept[:MAX_CHARS]
    try:
        return unpacked(json.loads(kept))
    except (ValueError, RecursionError):
        return kept


def together(*texts: str) -> str:
    """Joins the non-empty sentences."""
    result = ""
    for text in filter(None, texts):
        result = said("{sentence} {next}", sentence=result, next=text) if result else text
    return result


def said(template: str, /, **values: object) -> Said:
    """`template` with `{name}` replaced by the value of that name, which may be `said`, too."""
    text = Said(template.format(**values) if values else template)
    text.template, text.values = template, values
    return text


def _made(packed_text: Any) -> Any:
    if not isinstance(packed_text, dict):
        return packed_text
    return said(packed_text["text"], **{name: _made(value) for name, value in packed_text["values"].items()})


def _check(packed_text: Any) -> None:
    """Counts before anything is made: nested texts of ten characters each could fill the memory."""
    num_chars = 0

    def length(text: Any, depth: int) -> int:
        nonlocal num_chars
        here = _length(text, depth, length)
        num_chars += here
        if num_chars > MAX_CHARS:
            raise ValueError(f"it has more than {MAX_CHARS:,} characters")
        return here

    length(packed_text, 0)


def _length(text: Any, depth: int, length: Callable[[Any, int], int]) -> int:
    if isinstance(text, str):
        return len(text)
    if isinstance(text, int | float) and depth:
        if not abs(text) < MAX_NUMBER:
            raise ValueError("a number of it is none of ours")
        return MAX_NUMBER_CHARS
    template, values = text["text"], text["values"]
    if not isinstance(template, str) or len(template) > MAX_CHARS or depth == MAX_DEPTH:
        raise ValueError("it is not as ours are")
    if not values:
        return len(template)
    lengths = {name: length(value, depth + 1) for name, value in values.items()}
    fields = list(Formatter().parse(template))
    if not all(name is None or _is_ours(name, spec, conversion) for _, name, spec, conversion in fields):
        raise ValueError("a field of it is not as ours are")
    return sum(len(literal) + (lengths[name] if name is not None else 0) for literal, name, *_ in fields)


def _is_ours(name: str, spec: str | None, conversion: str | None) -> bool:
    """A plain name. Attributes and indexes would lead into the interpreter."""
    return name.isidentifier() and spec in _SPECS and conversion is None
