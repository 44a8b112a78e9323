"""Texts of parts that know no Qt, such that the window can show them in the user's language. Any thread."""

import json
from string import Formatter
from typing import Any

_SPECS = ("", ",", ".0f", ".1f")


class Said(str):
    """English that remembers what it was made of. Wherever a str goes, it goes, also through `str()`."""

    __slots__ = ("template", "values")

    template: str
    values: dict[str, Any]

    def __str__(self) -> "Said":
        return self


def packed(text: str) -> Any:
    """For JSON; `unpacked` makes the same of it again, in another process."""
    if not isinstance(text, Said):
        return text
    values = {name: packed(value) if isinstance(value, str) else value for name, value in text.values.items()}
    return {"text": text.template, "values": values}


def unpacked(told: Any) -> str:
    """Of something that is no text, or no harmless one: ValueError. Other processes may be anybody's."""
    if isinstance(told, str):
        return told
    try:
        template, values = told["text"], told["values"]
        fields = list(Formatter().parse(template))
        if not all(name is None or (name in values and spec in _SPECS) for _, name, spec, _ in fields):
            raise ValueError("a field of it is not as ours are")
        return said(template, **{name: _unpacked_value(value) for name, value in values.items()})
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise ValueError("this is no text") from error


def to_text(text: str) -> str:
    """For a file: plain, or as JSON with what it was made of."""
    return json.dumps(packed(text), ensure_ascii=False) if isinstance(text, Said) and text.values else text


def from_text(kept: str) -> str:
    """What `to_text` was given. A text that only looks so stays as it is."""
    if not kept.startswith("{"):
        return kept
    try:
        return unpacked(json.loads(kept))
    except (ValueError, RecursionError):
        return kept


def _unpacked_value(value: Any) -> Any:
    return value if isinstance(value, int | float) else unpacked(value)


def together(*texts: str) -> str:
    """Sentences one behind the other, without those that are empty."""
    told = [text for text in texts if text]
    result = told[0] if told else ""
    for text in told[1:]:
        result = said("{sentence} {next}", sentence=result, next=text)
    return result


def said(template: str, /, **values: object) -> Said:
    """`template` with `{name}` replaced by the value of that name, which may be `said`, too."""
    text = Said(template.format(**values) if values else template)
    text.template, text.values = template, values
    return text
