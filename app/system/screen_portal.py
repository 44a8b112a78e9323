"""Asks the desktop for a picture of the screen where no program may look at it itself: under Wayland."""

import asyncio
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from app.system.said import said

MAX_REPLY_S, MAX_CHOICE_S = 30.0, 600.0
CANCELLED = 1  # of a Response
DESKTOP, PORTAL = "/org/freedesktop/portal/desktop", "org.freedesktop.portal"


class ScreenPortalError(Exception):
    """It gives none; the text is a sentence for the user."""


async def take() -> Path | None:
    """The file that the desktop's own dialog has made. None: the user cancelled. Raises ScreenPortalError."""
    from jeepney.wrappers import DBusErrorResponse

    try:
        code, results = await _response()
    except (OSError, EOFError, KeyError, ValueError, TimeoutError, DBusErrorResponse) as error:
        raise ScreenPortalError(
            said(
                "This desktop does not let programs take screenshots ({reason}). Take one with its "
                "own tool and paste it.",
                reason=getattr(error, "name", None) or str(error) or type(error).__name__,
            )
        ) from error
    if code == CANCELLED:
        return None
    uri = urlsplit(str(results.get("uri", ("s", ""))[1]))
    if code or uri.scheme != "file":
        raise ScreenPortalError(
            said("The desktop took no screenshot. Take one with its own tool and paste it.")
        )
    return Path(unquote(uri.path))


async def _response() -> tuple[int, dict[str, Any]]:
    from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
    from jeepney.io.asyncio import Proxy, open_dbus_router
    from jeepney.wrappers import unwrap_msg

    portal = DBusAddress(DESKTOP, f"{PORTAL}.Desktop", f"{PORTAL}.Screenshot")
    token = f"skein{secrets.token_hex(8)}"
    options = {"interactive": ("b", True), "handle_token": ("s", token)}
    async with open_dbus_router() as bus:
        sender = bus.unique_name[1:].replace(".", "_")
        rule = MatchRule(
            type="signal",
            interface=f"{PORTAL}.Request",
            member="Response",
            path=f"{DESKTOP}/request/{sender}/{token}",
        )
        await Proxy(message_bus, bus).AddMatch(rule)
        with bus.filter(rule) as responses:
            call = new_method_call(portal, "Screenshot", "sa{sv}", ("", options))
            unwrap_msg(await asyncio.wait_for(bus.send_and_get_reply(call), MAX_REPLY_S))
            response = await asyncio.wait_for(responses.get(), MAX_CHOICE_S)
    code, results = response.body
    return code, results
