"""MCP servers as their makers meant them. Those that misbehave: test_hostile_servers.py."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.tools import mcp_server
from app.tools.mcp_process import Elicitation
from app.tools.mcp_server import McpServer, Status, with_unique_names
from app.tools.server_config import ServerConfig
from app.tools.tool import CallProgress, Surroundings, Tool, ToolError
from app.tools.tool_box import ToolBox
from tests.ready_children import started_children

PROGRAM = str(Path(__file__).with_name("sdk_server.py"))
HELLO = {"message": "hello"}


def config(name: str = "t", **more: Any) -> ServerConfig:
    return ServerConfig(name, sys.executable, (PROGRAM,), **more)


@contextlib.asynccontextmanager
async def server(one: McpServer | None = None, **more: Any) -> AsyncIterator[McpServer]:
    before = children()
    one = one or McpServer(config(**more))
    try:
        yield one
    finally:
        await one.close()
    assert children() == before


@contextlib.asynccontextmanager
async def http_address(kind: str = "http") -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, PROGRAM, kind, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}/{'sse' if kind == 'sse' else 'mcp'}"
    finally:
        process.kill()
        await process.wait()


def children() -> set[int]:
    return {child.pid for child in started_children()}


async def test_tools_are_listed_and_called():
    async with server() as one:
        await one.start()
        assert (one.info.title, one.info.version, one.info.instructions) == ("sdk", "1.2", "Ask me anything.")
        tool, *others = one.tools
        assert (tool.key, tool.title, tool.writes) == ("t/echo", "Say it again", False)
        assert all(other.writes for other in others)  # since they do not say that they only read
        assert tool.definition["function"]["parameters"]["required"] == ["message"]
        assert await tool.call(HELLO, Surroundings()) == {"plain_text_response": "echo: hello"}


async def test_a_server_over_http_does_the_same():
    async with http_address() as url, server(McpServer(ServerConfig("t", url=url))) as one:
        assert await one.call("echo", HELLO) == {"plain_text_response": "echo: hello"}
        assert len(one.tools) == 7


async def test_a_server_over_the_older_http_does_the_same():
    async with (
        http_address("sse") as url,
        server(McpServer(ServerConfig("t", url=url, uses_sse=True))) as one,
    ):
        assert await one.call("echo", HELLO) == {"plain_text_response": "echo: hello"}


async def test_many_calls_at_once_get_their_own_answers():
    async with server() as one:
        answers = await asyncio.gather(*(one.call("echo", {"message": str(number)}) for number in range(20)))
    assert [answer["plain_text_response"] for answer in answers] == [
        f"echo: {number}" for number in range(20)
    ]


async def test_an_error_of_a_tool_is_told():
    async with server() as one:
        with pytest.raises(ToolError, match="no luck"):
            await one.call("fail", {})
        with pytest.raises(ToolError, match="nothing"):
            await one.call("nothing", {})


async def test_progress_is_heard():
    heard: list[CallProgress] = []
    async with server() as one:
        await one.call("count", {}, Surroundings(on_progress=heard.append))
    assert heard[0] == CallProgress(1, 3, "step 1")


async def test_cancelling_a_call_cancels_it_in_the_server(tmp_path):
    mark = tmp_path / "mark"
    async with server() as one:
        calling = asyncio.ensure_future(one.call("wait", {"mark": str(mark)}))
        while not mark.exists() or not mark.read_text():
            await asyncio.sleep(0.02)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        while mark.read_text() != "cancelled":
            await asyncio.sleep(0.02)
        assert await one.call("echo", HELLO)


async def test_a_tool_that_comes_later_is_listed():
    async with server() as one:
        await one.call("grow", {})
        while one.tools[-1].key != "t/grown":
            await asyncio.sleep(0.02)


async def test_resources_and_prompts_are_listed_and_read():
    async with server() as one:
        (resource,) = await one.ask("resources")
        assert (resource["uri"], resource["name"], resource["mime"]) == (
            "notes://today",
            "Today",
            "text/plain",
        )
        assert await one.ask("read_resource", uri="notes://today") == "Nothing."
        (prompt,) = await one.ask("prompts")
        assert (prompt["title"], prompt["arguments"][0]["name"]) == ("Praise", "thing")
        got = await one.ask("get_prompt", name="praise", arguments={"thing": "tea"})
        assert got == [{"role": "user", "text": "Praise tea."}]


class Answering(McpServer):
    can_elicit = True
    asked: Elicitation | None = None

    async def on_elicit(self, question: Elicitation) -> Mapping[str, Any]:
        self.asked = question
        return {"action": "accept", "content": {"width": 3, "is_round": True}}


async def test_a_question_of_the_server_is_answered():
    one = Answering(config())
    async with server(one):
        assert await one.call("ask", {}) == {"plain_text_response": "3 True"}
    assert one.asked
    assert one.asked.message == "Which size?"
    assert one.asked.schema
    assert one.asked.schema["properties"].keys() == {"width", "is_round"}


async def test_where_nobody_can_be_asked_the_call_fails():
    async with server() as one:
        with pytest.raises(ToolError, match="elicitation"):
            await one.call("ask", {})


async def test_a_program_that_is_not_there_says_so():
    async with server(McpServer(ServerConfig("t", "no-such-program-here"))) as one:
        with pytest.raises(ToolError, match="cannot be started"):
            await one.start()
        assert one.status is Status.FAILED


async def test_an_address_where_nobody_listens_says_so():
    async with server(McpServer(ServerConfig("t", url="http://127.0.0.1:9/mcp"))) as one:
        with pytest.raises(ToolError, match="cannot be started"):
            await one.start()


async def test_one_that_was_killed_is_started_again(monkeypatch):
    monkeypatch.setattr(mcp_server, "FIRST_RESTART_S", 0.01)
    before = children()
    async with server() as one:
        await one.start()
        for pid in children() - before:
            with contextlib.suppress(psutil.Error):
                psutil.Process(pid).kill()
        while one.status is Status.READY:
            await asyncio.sleep(0.02)
        while one.status is not Status.READY:
            await asyncio.sleep(0.02)
        assert await one.call("echo", HELLO)


async def test_our_own_secrets_are_not_its(monkeypatch):
    monkeypatch.setenv("SKEIN_API_KEY", "canary")
    monkeypatch.setenv("HF_TOKEN", "canary")
    monkeypatch.setenv("FROM_OUTSIDE", "mine")
    environment = {"TOKEN": "theirs", "OTHER": "${env:FROM_OUTSIDE}"}
    async with server(environment=environment) as one:
        told = json.loads((await one.call("environment", {}))["plain_text_response"])
    assert (told["TOKEN"], told["OTHER"]) == ("theirs", "mine")
    assert "canary" not in told.values()


async def test_one_broken_server_leaves_the_others():
    box = ToolBox(servers=[config(name="good"), ServerConfig("bad", "no-such-program-here")])
    (problem,) = await box.open()
    assert "bad cannot be started" in problem
    assert next(iter(await box.tools())).name == "good_echo"
    assert await box.call("good_echo", HELLO, Surroundings())
    await box.close()


def test_tools_of_the_same_name_are_told_apart():
    async def call(_arguments: Mapping[str, Any], _where: Surroundings) -> dict[str, Any]:
        return {}

    keys = ["a/read", "b/read", "b c/read", "b_c/read"]
    tools = [Tool("read", "", "", {}, call, key=key) for key in keys]
    assert [tool.name for tool in with_unique_names(tools)] == ["read", "b_read", "b_c_read", "b_c_read_2"]
