"""The tool that tells the time. Any thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.tools.tool import Result, Surroundings, Tool, ToolError


def clock_tool(key: str, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> Tool:
    """`now` has a zone: the user's."""

    async def call(arguments: Mapping[str, Any], _where: Surroundings) -> Result:
        return {"plain_text_response": told(now(), arguments.get("timezone"))}

    zone = {"type": "string", "description": "IANA name such as Europe/Berlin; the user's own without it"}
    return Tool(
        "current_time",
        "Current time",
        "Get the current date, weekday and time, in the user's time zone or in another one.",
        {"type": "object", "properties": {"timezone": zone}, "required": []},
        call,
        "builtin",
        key=key,
        is_harmless=True,
    )


def told(at: datetime, zone: object) -> str:
    """Raises ToolError."""
    if zone:
        try:
            at = at.astimezone(ZoneInfo(str(zone)))
        except (LookupError, ValueError, OSError):
            raise ToolError(
                f"there is no time zone {str(zone)[:100]!r}; use a name such as Asia/Tokyo"
            ) from None
    return f"{at:%A, %Y-%m-%d, %H:%M:%S} ({zone or at.tzname()})"
