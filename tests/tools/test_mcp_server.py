"""MCP servers that behave, and those that do not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.protocol.errors import InvalidRequestError
from app.tools import mcp_server
from app.tools.mcp_server import McpConfig, McpServer, read_mcp_config
from app.tools.tool import Surroundings, ToolError
from app.tools.tool_box import ToolBox

PROGRAM = str(Path(__file__).with_name("mcp_program.py"))
HELLO = {"message": "hello"}


def config(mode: str = "", name: str = "t", **more: Any) -> McpConfig:
    return McpConfig(name, sys.executable, (PROGRAM, mode), **({"timeout_s": 60.0} | more))


@contextlib.asynccontextmanager
async def server(mode: str = "", **more: Any) -> AsyncIterator[McpServer]:
    before = children()
    one = McpServer(config(mode, **more))
    try:
        yield one
    finally:
        await one.close()
    assert children() == before


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE}


async def test_tools_are_listed_and_called():
    async with server() as one:
        tools = await one.tools()
        assert [tool.name for tool in tools] == ["t_echo", "t_die", "t_hang", "t_fail"]
        definition = tools[0].definition
        assert (definition["type"], definition["function"]["name"]) == ("function", "t_echo")
        assert definition["function"]["parameters"]["required"] == ["message"]
        answer = await tools[0].call(HELLO, Surroundings())
        assert answer == {"plain_text_response": "echo: hello\n[image]"}


async def test_many_calls_at_once_get_their_own_answers():
    async with server() as one:
        answers = await asyncio.gather(*(one.call("echo", {"message": str(number)}) for number in range(20)))
    assert [answer["plain_text_response"] for answer in answers] == [
        f"echo: {number}\n[image]" for number in range(20)
    ]


async def test_noise_between_answers_is_left_out():
    async with server("noise") as one:
        assert "hello" in (await one.call("echo", HELLO))["plain_text_response"]


async def test_tools_without_a_usable_name_are_left_out():
    async with server("strange") as one:
        assert [tool.name for tool in await one.tools()][4:] == ["t_bare"]


@pytest.mark.parametrize(
    ("mode", "tool", "reason"),
    [
        ("", "fail", "no luck"),
        ("", "die", "has ended"),
        ("refuse", "echo", "not today"),
        ("flood", "echo", "has ended"),
    ],
)
async def test_what_fails_costs_its_call_and_the_next_one_works(mode, tool, reason):
    async with server(mode) as one:
        with pytest.raises(ToolError, match=reason):
            await one.call(tool, HELLO)
        assert await one.tools()


async def test_one_that_hangs_is_ended_and_started_again():
    async with server() as one:
        await one.tools()
        one.config = config(timeout_s=0.1)
        with pytest.raises(ToolError, match=r"did not answer within 0\.1 seconds"):
            await one.call("hang", HELLO)
        one.config = config()
        assert "hello" in (await one.call("echo", HELLO))["plain_text_response"]


async def test_one_that_does_not_even_greet_is_given_up(monkeypatch):
    monkeypatch.setattr(mcp_server, "START_S", 0.1)
    async with server("mute", timeout_s=0.05) as one:
        with pytest.raises(ToolError, match=r"did not answer within 0\.1 seconds"):
            await one.tools()


async def test_a_short_timeout_is_for_calls_and_not_for_the_start():
    async with server(timeout_s=0.001) as one:
        assert await one.tools()


async def test_a_program_that_is_not_there_says_so():
    async with server() as one:
        one.config = McpConfig("t", "no-such-program-here")
        with pytest.raises(ToolError, match="cannot be started"):
            await one.tools()


async def test_what_it_has_started_ends_with_it():
    async with server("grandchild") as one:
        await one.tools()
        started = psutil.Process().children(recursive=True)
        assert len(started) >= 2
    _gone, left = psutil.wait_procs(started, timeout=30)
    assert not left


async def test_closing_ends_a_call_at_once():
    async with server() as one:
        await one.tools()
        calling = asyncio.ensure_future(one.call("hang", HELLO))
        await asyncio.sleep(0)
        await one.close()
        with pytest.raises(ToolError, match="is stopped"):
            await calling


async def test_our_own_secrets_are_not_its(monkeypatch):
    monkeypatch.setenv("SKEIN_API_KEY", "canary")
    async with server("environment", environment={"TOKEN": "theirs"}) as one:
        told = json.loads((await one.call("echo", HELLO))["plain_text_response"])
    assert told["TOKEN"] == "theirs"
    assert "canary" not in told.values()


async def test_one_broken_server_leaves_the_others():
    box = ToolBox(servers=[config(name="good"), McpConfig("bad", "no-such-program-here")])
    (problem,) = await box.open()
    assert "bad cannot be started" in problem
    assert next(iter(await box.tools())).name == "good_echo"
    assert await box.call("good_echo", HELLO, Surroundings())
    await box.close()


def test_the_list_is_that_of_other_programs():
    text = json.dumps(
        {
            "mcpServers": {
                "files": {
                    "command": "npx",
                    "args": ["-y", "x"],
                    "env": {"A": "1"},
                    "cwd": "/tmp",
                    "timeout_ms": 500,
                },
                "remote": {"url": "https://example.com"},
            }
        }
    )
    assert read_mcp_config(text) == [McpConfig("files", "npx", ("-y", "x"), {"A": "1"}, "/tmp", 0.5)]
    assert read_mcp_config("{}") == []


@pytest.mark.parametrize(
    "text",
    ["", "not json", "[]", '{"mcpServers": 5}', '{"mcpServers": {"a": {"command": "x", "timeout_ms": 0}}}'],
)
def test_a_list_that_cannot_be_read_is_refused(text):
    with pytest.raises(InvalidRequestError, match="list of MCP servers"):
        read_mcp_config(text)
