"""JSON objects passed as text, so that the values that contain them stay frozen. Any thread."""

import json
from collections.abc import Callable
from typing import Any

from app.protocol.errors import InvalidRequestError

MAX_JSON_CHARS = 1 << 20
MAX_DEPTH = 100  # far below the recursion limit of Python, or of a template
# The most that JSON of a stranger may have. To make so many takes some 15 ms, in which no other thread runs.
MAX_CONTAINERS, MAX_KEYS, MAX_TEXTS = 20_000, 50_000, 150_000
MAX_COMMAS = 300_000  # between numbers, for example: the longest prompts of token numbers have fewer


def read_object(text: str, name: str) -> dict[str, Any]:
    """Parses `text`; "" is an empty object. Raises InvalidRequestError, which mentions `name`."""
    if not text:
        return {}
    if not isinstance(text, str):
        raise InvalidRequestError(f"{name} must be the text of a JSON object, not {type(text).__name__}.")
    if len(text) > MAX_JSON_CHARS:
        raise InvalidRequestError(f"{name} may have {MAX_JSON_CHARS:,} characters, not {len(text):,}.")
    try:
        check_size(text.encode("utf-8", "replace"))
        value = json.loads(text, parse_constant=_refuse_constant)
        check_depth(value, MAX_DEPTH)
    except (ValueError, RecursionError) as error:  # numbers of too many digits are a ValueError, too
        raise InvalidRequestError(f"{name} cannot be read as JSON: {error}.") from error
    if not isinstance(value, dict):
        raise InvalidRequestError(f"{name} must be a JSON object, not {type(value).__name__}.")
    return value


def map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with `change` applied to every string, including keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_strings(one, change) for one in value]
    if isinstance(value, dict):
        return {change(name): map_strings(one, change) for name, one in value.items()}
    return value


def check_size(text: bytes) -> None:
    """Raises ValueError for JSON of so many values that to read it would hold up all other threads."""
    if _has_too_much(text) and _has_too_much(outside_texts(text)):
        most = f"{MAX_CONTAINERS:,} objects and lists, {MAX_KEYS:,} fields, or {MAX_COMMAS:,} values"
        raise ValueError(f"it has more than {most}")


def _has_too_much(text: bytes) -> bool:
    num_containers, num_keys = text.count(b"{") + text.count(b"["), text.count(b":")
    return num_containers > MAX_CONTAINERS or num_keys > MAX_KEYS or text.count(b",") > MAX_COMMAS


def outside_texts(text: bytes) -> bytes:
    """JSON without them. Raises ValueError."""
    text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    if text.count(b'"') > 2 * MAX_TEXTS:
        raise ValueError(f"it has more than {MAX_TEXTS:,} texts")
    return b"".join(text.split(b'"')[::2])


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def check_depth(value: Any, depth: int) -> None:
    """Raises ValueError."""
    if depth == 0:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            check_depth(one, depth - 1)
