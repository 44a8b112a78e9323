"""JSON in and out. What comes in is read within limits, and what only Python takes for JSON is refused."""

import asyncio
import json
from typing import Any, NoReturn, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from app.api.errors import ApiError, from_validation, invalid
from app.api.limits import LIMITS, Limits

Fields = TypeVar("Fields", bound=BaseModel)


class Body(BaseModel):
    """What all bodies have in common: a field is of its type or refused, unknown ones are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


async def read_fields(request: web.Request, kind: type[Fields]) -> Fields:
    """Raises ApiError."""
    value = await read_object(request)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise from_validation(error) from None


async def read_object(request: web.Request) -> dict[str, Any]:
    """Raises ApiError."""
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
    return parse_object(body)


def parse_object(body: bytes) -> dict[str, Any]:
    """Raises ApiError."""
    try:
        text = body.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError:
        raise invalid("The body is not UTF-8, or has half of a surrogate pair in it.") from None
    except RecursionError:
        raise invalid("The body is nested too deep.") from None
    except ValueError as error:
        raise invalid(f"The body is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise invalid("The body must be a JSON object.")
    return value


def json_response(body: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers, dumps=as_json)


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _too_large(limits: Limits) -> ApiError:
    return ApiError(413, f"The body may have {limits.max_body_bytes:,} bytes.")
