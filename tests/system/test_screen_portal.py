"""With a portal of our own on a bus of our own."""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    message_bus,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.io.asyncio import open_dbus_connection

from app.system import screen_portal
from app.system.screen_portal import ScreenPortalError

PORTAL = "org.freedesktop.portal"
SHOT = {"uri": ("s", "file:///home/me/A%20screen.png")}
RESPONSES = {
    "taken": (0, SHOT, Path("/home/me/A screen.png")),
    "cancelled": (1, {}, None),
    "failed": (2, {}, "took no screenshot"),
    "elsewhere": (0, {"uri": ("s", "https://example.org/a.png")}, "took no screenshot"),
    "refused": (None, {}, r"let programs take screenshots \(org.freedesktop.DBus.Error.AccessDenied\)"),
}


@pytest.fixture(scope="module")
def bus() -> Iterator[str]:
    program = shutil.which("dbus-daemon")
    if not program:
        pytest.skip("there is no dbus-daemon")
    daemon = subprocess.Popen(
        [program, "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True
    )
    assert daemon.stdout
    with daemon.stdout:
        yield daemon.stdout.readline().strip()
    daemon.terminate()
    daemon.wait()


async def serve(code: int | None, results: dict[str, tuple[str, str]], is_ready: asyncio.Event) -> None:
    """Answers one request."""
    async with await open_dbus_connection() as connection:
        await connection.send(message_bus.RequestName(f"{PORTAL}.Desktop"))
        is_ready.set()
        while True:
            asked = await connection.receive()
            fields = asked.header.fields
            if asked.header.message_type is MessageType.method_call:
                break
        assert fields[HeaderFields.member] == "Screenshot"
        parent, options = asked.body
        assert (parent, options["interactive"]) == ("", ("b", True))
        if code is None:
            await connection.send(new_error(asked, "org.freedesktop.DBus.Error.AccessDenied"))
            return
        sender = fields[HeaderFields.sender][1:].replace(".", "_")
        path = f"/org/freedesktop/portal/desktop/request/{sender}/{options['handle_token'][1]}"
        await connection.send(new_method_return(asked, "o", (path,)))
        request = DBusAddress(path, interface=f"{PORTAL}.Request")
        await connection.send(new_signal(request, "Response", "ua{sv}", (code, results)))


async def take(code: int | None, results: dict[str, tuple[str, str]]) -> Path | None:
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(serve(code, results, is_ready))
        await is_ready.wait()
        return await screen_portal.take()


@pytest.mark.parametrize("case", RESPONSES)
def test_the_desktops_answer_is_a_file_nothing_or_a_sentence(bus, monkeypatch, case) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
    code, results, outcome = RESPONSES[case]
    if isinstance(outcome, str):
        with pytest.raises(ExceptionGroup) as raised:
            asyncio.run(take(code, results))
        assert raised.group_contains(ScreenPortalError, match=outcome)
    else:
        assert asyncio.run(take(code, results)) == outcome


def test_without_a_bus_or_a_portal_there_is_a_sentence(bus, monkeypatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
    with pytest.raises(
        ScreenPortalError,
        match=r"let programs take screenshots \(org.freedesktop.DBus.Error.ServiceUnknown\)",
    ):
        asyncio.run(screen_portal.take())
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    with pytest.raises(ScreenPortalError, match="let programs take screenshots"):
        asyncio.run(screen_portal.take())
