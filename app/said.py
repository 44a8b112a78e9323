"""Texts of those parts that know no Qt, such that the window can show them in the user's language. Any thread."""

from typing import Any


class Said(str):
    """English that remembers what it was made of. Wherever a str goes, it goes, also through `str()`."""

    template = ""
    values: dict[str, Any] = {}  # noqa: RUF012  replaced, never changed

    def __str__(self) -> "Said":
        return self


def said(template: str, /, **values: object) -> Said:
    """`template` with `{name}` replaced by the value of that name, which may be `said`, too."""
    text = Said(template.format(**values) if values else template)
    text.template, text.values = template, values
    return text
