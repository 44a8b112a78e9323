"""The tools of all chats, with a real server."""

from __future__ import annotations

import asyncio
import json
import shlex
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.protocol.errors import InvalidRequestError
from app.services.preferences import Preferences
from app.services.tools import ToolService
from app.settings.settings import Settings
from app.tools.mcp_server import START_S, Status
from app.tools.server_config import ServerConfig
from app.tools.tool import Approval, ToolError
from tests.tools.test_mcp_server import PROGRAM, children, config


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all tests run at once, a server takes its time to start."""
    monkeypatch.setattr("app.services.tools.PREPARE_S", START_S)


@pytest.fixture
def preferences(qapp: object) -> Preferences:
    return Preferences(Settings())


@pytest.fixture
def make(qapp: Any, preferences: Preferences, tmp_path: Path) -> Iterator[Callable[[], ToolService]]:
    made = []

    def make_one() -> ToolService:
        file = tmp_path / "config" / "mcp-servers.json"
        made.append(ToolService(None, preferences, file, qapp))  # type: ignore[arg-type]
        return made[-1]

    yield make_one
    for one in made:
        one.deleteLater()


@pytest.fixture
def service(make: Callable[[], ToolService]) -> ToolService:
    return make()


def names(service: ToolService, *chosen: str) -> list[str]:
    return [tool.name for tool in service.offered(chosen)]


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


async def test_built_in_tools_are_offered_when_chosen(qloop, service):
    assert names(service) == []
    assert names(service, "skein/time", "skein/none") == ["current_time"]
    assert len(names(service, "skein/*")) == 6
    (clock,) = service.offered(["skein/time"])
    assert "UTC" in await service.call(clock, {}, "chat")


async def test_a_server_starts_once_it_is_trusted_and_chosen(qloop, service):
    name = service.add(config())
    assert names(service, "t/*") == []
    (state,) = service.servers
    assert (state.is_trusted, state.status, children()) == (False, Status.STOPPED, set())
    assert state.config.command_line == shlex.join([sys.executable, str(PROGRAM)])
    service.trust(name)
    await service.prepare(["t/echo"])
    assert names(service, "t/echo") == ["echo"]
    (state,) = service.servers
    assert (state.status, state.info.title) == (Status.READY, "sdk")
    assert await service.call(service.offered(["t/echo"])[0], {"message": "x"}, "chat") == "echo: x"
    await service.close()
    assert children() == set()


async def test_a_changed_command_is_confirmed_anew_unless_the_user_typed_it(qloop, service):
    name = service.add(config())
    service.change(name, replace(config(), environment={"A": "1"}), trusted=True)
    assert service.servers[0].is_trusted
    service.change(name, replace(config(), environment={"A": "2"}))
    assert not service.servers[0].is_trusted
    await service.close()


async def test_a_server_that_is_slow_or_cannot_start_is_missing(qloop, service, monkeypatch):
    monkeypatch.setattr("app.services.tools.PREPARE_S", 0.1)
    service.add(ServerConfig("slow", sys.executable, ("-c", "input()")), trusted=True)
    service.add(ServerConfig("none", "/nowhere/at/all"), trusted=True)
    service.add(config(), trusted=True)
    service.add(config("off"))
    chosen = ("slow/*", "none/*", "t/*", "off/*", "skein/*")
    assert service.missing(chosen) == ("slow", "none", "t")
    assert not service.is_ready(chosen)
    await service.prepare(chosen)
    await until(lambda: service.missing(chosen) == ("slow", "none"))
    await until(lambda: service.servers[1].status is Status.FAILED)
    assert service.missing(("t/*", "skein/*")) == ()
    service.restart("t")
    await until(lambda: service.servers[2].status is Status.STARTING)
    assert "t" not in service.missing(chosen), "its tools are known, and a call waits for it"
    await service.close()


async def test_the_list_is_kept_privately_and_found_again(qloop, make, tmp_path):
    service = make()
    service.add(config(environment={"KEY": "canary"}), trusted=True)
    service.add(ServerConfig("far", url="https://example.com/mcp"))
    service.set_enabled("far", False)
    await service.close()
    file = tmp_path / "config" / "mcp-servers.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    first, second = make().servers
    assert (first.config.environment, first.is_trusted) == ({"KEY": "canary"}, True)
    assert (second.name, second.is_enabled) == ("far", False)


async def test_what_another_program_has_changed_is_not_started(qloop, make, tmp_path):
    service = make()
    service.add(config(), trusted=True)
    await service.close()
    file = tmp_path / "config" / "mcp-servers.json"
    told = json.loads(file.read_text())
    told["mcpServers"]["t"]["args"] = ["-c", "print('bad')"]
    file.write_text(json.dumps(told))
    other = make()
    assert not other.servers[0].is_trusted
    await other.prepare(["t/*"])
    assert other.servers[0].status is Status.STOPPED


async def test_a_damaged_list_is_kept_aside(qloop, make, tmp_path):
    file = tmp_path / "config" / "mcp-servers.json"
    file.parent.mkdir()
    file.write_text("{")
    assert make().servers == ()
    assert file.with_suffix(".unreadable.json").read_text() == "{"


async def test_names_are_unique_and_keep_away_from_skein(qloop, service):
    assert [service.add(config(name)) for name in ("a", "a", "skein")] == ["a", "a 2", "skein-mcp"]


async def test_what_cannot_be_used_is_refused(qloop, service):
    text = '{"servers": {"a": {"command": "x", "env": {"K": "${input:key}"}}}}'
    (wanting,) = service.import_text(text)
    for bad in (wanting, ServerConfig("a"), ServerConfig("", "x"), ServerConfig("a", url="file:///")):
        with pytest.raises(InvalidRequestError):
            service.add(bad)
    with pytest.raises(InvalidRequestError):
        service.import_text("{}")
    assert service.add(wanting.filled({"key": "v"})) == "a"


async def test_approvals_are_kept(qloop, service, preferences):
    clock, search, fetch = service.offered(["skein/time", "skein/fetch_page", "skein/search_chats"])
    assert service.approval(clock) is Approval.ALWAYS, "it is harmless"
    assert service.approval(search) is Approval.ASK
    for tool, usual in ((clock, Approval.ALWAYS), (search, Approval.ASK)):
        for approval in Approval:
            service.set_approval(tool, approval)
            assert service.approval(tool) is approval
        service.set_approval(tool, Approval.NEVER)
        assert names(service, "skein/*").count(tool.name) == 0
        service.set_approval(tool, usual)
        assert preferences.settings.tool_approvals == {}
    service.set_approval(fetch, Approval.ALWAYS)
    assert service.approval(fetch) is Approval.ASK


async def test_a_question_reaches_the_user(qloop, service):
    service.add(config(), trusted=True)
    await service.prepare(["t/ask"])
    (ask,) = service.offered(["t/ask"])
    with pytest.raises(ToolError):
        await service.call(ask, {}, "chat")  # nobody listens
    asked = []

    def answer(server: str, message: str, schema: Any, answer: Callable[[Any], None]) -> None:
        asked.append((server, message, list(schema["properties"])))
        answer({"width": 2})

    service.elicitation.connect(answer)
    assert await service.call(ask, {}, "chat") == "2 False"
    assert asked == [("t", "Which size?", ["width", "is_round"])]
    await service.close()


async def test_resources_and_prompts(qloop, service):
    service.add(config(), trusted=True)
    (resource,) = await service.resources("t")
    assert await service.read_resource("t", resource.uri) == "Nothing."
    (prompt,) = await service.prompts("t")
    assert (prompt.title, prompt.arguments[0].is_required) == ("Praise", True)
    assert await service.get_prompt("t", prompt.name, {"thing": "tea"}) == "Praise tea."
    await service.close()


async def test_changes_and_progress_are_told(qloop, service):
    changes, progress = [], []
    service.changed.connect(lambda: changes.append(service.servers[0].status))
    service.progressed.connect(lambda *told: progress.append(told))
    service.add(config(), trusted=True)
    await until(lambda: Status.READY in changes)
    (count,) = service.offered(["t/count"])
    await service.call(count, {}, "chat")
    assert progress[0][:2] == ("chat", "t/count")
    service.restart("t")
    await until(lambda: changes[-1] is not Status.READY)
    await until(lambda: changes[-1] is Status.READY)
    await service.close()


async def test_one_that_is_turned_off_or_removed_ends_and_is_not_called(qloop, service):
    service.add(config(), trusted=True)
    await service.prepare(["t/echo"])
    (echo,) = service.offered(["t/echo"])
    service.set_enabled("t", False)
    await until(lambda: children() == set())
    assert names(service, "t/*") == []
    with pytest.raises(ToolError, match="turned off"):
        await service.call(echo, {"message": "x"}, "chat")
    service.remove("t")
    assert service.servers == ()
    with pytest.raises(ToolError, match="turned off"):
        await service.call(echo, {"message": "x"}, "chat")
