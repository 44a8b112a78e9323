"""JSON in and out. Input is read within limits, and what only Python accepts as JSON is refused."""

import asyncio
import codecs
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import from_json

from app.api.errors import ApiError, from_validation, invalid
from app.protocol.json_object import MAX_COMMAS, MAX_DEPTH, check_depth, check_size


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds. An idle connection is closed as early as one whose first headers do not come."""

    num_connections: int = 512
    max_body_bytes: int = 16 << 20  # some pictures; to read as much text holds up other threads for 80 ms
    send_buffer_bytes: int = 64 << 10  # of the system, which else lets megabytes of an answer pile up unread
    header_s: float = 10.0
    body_s: float = 30.0
    send_s: float = 30.0  # for a reader to make room for the next piece of an answer
    linger_s: float = 1.0  # for a caller to read that its body is refused, while the body is discarded
    stop_s: float = 0.5  # for answers to end by themselves when the server is stopped


LIMITS = web.AppKey("limits", Limits)
NAMED_MODEL = web.RequestKey("named_model", str)


AnyObject = dict[str, Any]
Fields = TypeVar("Fields", bound="Body")
T = TypeVar("T")

MAX_BYTES_AT_ONCE = 32 << 10  # takes a few milliseconds
MAX_ARGUMENTS_DEPTH = MAX_DEPTH - 10  # they are part of a message
# Half of a character that was written as two halves, whole ones, and a backslash that is none.
LONE_HALF = re.compile(rb"(\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
REPLACEMENT = b"\\ufffd"
MAX_EXACT = 2**53  # above it a number with a point need not be the one that was meant


class Body(BaseModel):
    """What all bodies have in common: a field is of its type or refused."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    def note_unknown(self, body: dict[str, Any]) -> None:
        """`body` is what the fields were read from. Who answers with warnings keeps the names."""

    @model_validator(mode="after")
    def _let_others_run(self) -> Self:
        """Between two objects of a large body: pydantic itself keeps the interpreter to its end."""
        return self


async def read_fields(request: web.Request, kind: type[Fields]) -> Fields:
    """Raises ApiError."""
    body = await _read(request)
    return await beside(request, lambda: _fields(request, body, kind))


async def beside(request: web.Request, work: Callable[[], T]) -> T:
    """What `work` makes of a body that was read. A large one takes a thread: the loop serves others, too."""
    is_large = len(await request.read()) > MAX_BYTES_AT_ONCE
    return await asyncio.to_thread(work) if is_large else work()


async def _read(request: web.Request) -> bytes:
    limits = request.app[LIMITS]
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ApiError(415, "Send the body as it is: Content-Encoding is not supported.")
    if (request.content_length or 0) > limits.max_body_bytes:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.body_s):
            body = await request.read()
    except TimeoutError:
        raise ApiError(408, f"The body did not come within {limits.body_s:g} seconds.") from None
    except web.HTTPRequestEntityTooLarge:
        raise _too_large(limits) from None
    return body


def _fields(request: web.Request, body: bytes, kind: type[Fields]) -> Fields:
    value = parse_object(body)
    name = value.get("model")
    request[NAMED_MODEL] = name if isinstance(name, str) else ""
    return validated(value, kind)


def validated(value: dict[str, Any], kind: type[Fields]) -> Fields:
    """Raises ApiError."""
    try:
        fields = kind.model_validate({name: whole(one) for name, one in value.items()})
    except ValidationError as error:
        raise from_validation(error, value) from None
    fields.note_unknown(value)
    return fields


def whole(value: Any) -> Any:
    """8 for 8.0: there are languages whose numbers all have a point."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT
    return int(value) if is_whole else value


def parse_object(body: bytes) -> dict[str, Any]:
    """Raises ApiError."""
    if body.count(b",") > MAX_COMMAS:  # in texts, too: more tokens than a context has
        raise invalid(f"The body has more than {MAX_COMMAS:,} values.")
    try:
        value = parse(body.removeprefix(codecs.BOM_UTF8))
    except ValueError as error:
        raise invalid(f"The body cannot be read: {error}.") from None
    if not isinstance(value, dict):
        raise invalid("The body must be a JSON object.")
    return value


def parse(text: bytes) -> Any:
    """A JSON value of any size, in a time that others can wait. Raises ValueError."""
    check_size(text)
    try:
        return from_json(text, allow_inf_nan=False, cache_strings="none")
    except ValueError:
        mended = _mended(text)
        if mended == text:
            raise
    return from_json(mended, allow_inf_nan=False, cache_strings="none")


def _mended(text: bytes) -> bytes:
    return LONE_HALF.sub(lambda found: found[1] or REPLACEMENT, text)


def begun_object(text: str, *, keeps_last: bool = False) -> dict[str, Any]:
    """The arguments of a call, also of one that was cut: the values that are whole.

    With `keeps_last` a text that was cut is there as far as it goes. What cannot be an object is in one.
    """
    cut: Any = "trailing-strings" if keeps_last else True
    try:
        check_size(text.encode())
        data = _mended(text.encode() or b"{}")
        found = from_json(data, allow_inf_nan=False, cache_strings="none", allow_partial=cut)
        check_depth(found, MAX_ARGUMENTS_DEPTH)
    except ValueError:
        found = text
    return found if isinstance(found, dict) else {"arguments": text}


def is_whole_object(text: str) -> bool:
    try:
        return isinstance(parse(text.encode()), dict)
    except ValueError:
        return False


def json_response(body: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers, dumps=as_json)


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _too_large(limits: Limits) -> ApiError:
    return ApiError(413, f"The body may have {limits.max_body_bytes:,} bytes.")
