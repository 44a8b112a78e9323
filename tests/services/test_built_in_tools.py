"""The tools that Skein brings along."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from aiohttp import web

from app.chats.chat import Chat, Turn
from app.chats.summary import Summary
from app.protocol.request import Role
from app.services.built_in_tools import BuiltInTools
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.storage.chat_rows import SavedChat, SavedTurns
from app.storage.search import FOUND_END, FOUND_START, SearchHit
from app.tools.clock import clock_tool
from app.tools.tool import Surroundings, Tool, ToolError


class Hits:
    """A store that finds two messages."""

    def __init__(self, *turns: Turn) -> None:
        self.turns = turns

    async def load_chat(self, chat_id: str) -> SavedChat | None:
        return SavedChat(Chat(chat_id)) if chat_id == "mine" else None

    async def load_turns(self, _saved: SavedChat) -> SavedTurns:
        return SavedTurns(list(self.turns))

    async def search(self, _words: str, _limit: int) -> tuple[SearchHit, ...]:
        when = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()
        snippet = f"the {FOUND_START}invoice{FOUND_END}\nof May"
        return (
            SearchHit("mine", "1", "This one", "find my invoice", when),
            SearchHit("c", "2", "Taxes", snippet, when),
        )


@pytest.fixture
def preferences(qapp: object) -> Preferences:
    return Preferences(Settings())


@pytest.fixture
def built_in(preferences: Preferences) -> BuiltInTools:
    return BuiltInTools(Hits(), preferences, is_allowed=lambda _address: True)  # type: ignore[arg-type]


def tool(built_in: BuiltInTools, name: str) -> Tool:
    return next(tool for tool in built_in.tools if tool.name == name)


async def call(one: Tool, **arguments: Any) -> str:
    result = await one.call(arguments, Surroundings(chat_id="mine"))
    return str(result["plain_text_response"])


def test_keys_are_of_skein_and_names_can_be_told(built_in):
    keys = [tool.key for tool in built_in.tools]
    names = ["time", "calculate", "search_chats", "recall", "fetch_page", "delegate"]
    assert keys == [f"skein/{name}" for name in names]
    assert all(tool.name.isidentifier() for tool in built_in.tools)


async def test_the_time_is_told_with_its_zone():
    at = datetime(2026, 11, 24, 9, 25, 7, tzinfo=timezone(timedelta(hours=1), "CET"))
    clock = clock_tool("skein/time", lambda: at)
    assert await call(clock) == "Tuesday, 2026-11-24, 09:25:07 (CET)"
    assert await call(clock, timezone="Asia/Kolkata") == "Tuesday, 2026-11-24, 13:55:07 (Asia/Kolkata)"
    for zone in ("Nowhere/Else", "../../etc/passwd", "\0"):
        with pytest.raises(ToolError, match="no time zone"):
            await call(clock, timezone=zone)


async def test_chats_are_searched_but_for_the_one_that_asks(qloop, built_in):
    found = await call(tool(built_in, "search_chats"), query="invoice")
    assert found == "Taxes (2026-03-04): the invoice of May"


async def test_files_below_the_folders_of_the_user_and_no_others(qloop, built_in, preferences, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "notes.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "secret.txt").write_text("canary")
    (tmp_path / "a" / "link.txt").symlink_to(tmp_path / "secret.txt")
    preferences.set("tool_folders", [tmp_path / "a"])
    read = tool(built_in, "read_file")
    assert read.key == "skein/read_file"
    assert await call(read, path="notes.txt", start_line=2, end_line=2) == "two\n"
    for path in ("../secret.txt", str(tmp_path / "secret.txt"), "link.txt"):
        with pytest.raises(ToolError, match="outside of the folders"):
            await call(read, path=path)
    assert "notes.txt" in await call(tool(built_in, "find_files"), path=".")
    assert "two" in await call(tool(built_in, "search_files"), path=".", pattern="tw.")
    assert not any(tool.writes for tool in built_in.tools if tool.uses_folder)


async def test_a_page_is_told_as_text(qloop, built_in):
    async def page(_request: web.Request) -> web.Response:
        html = (
            "<html><head><title>x</title><script>bad()</script></head><body><h1>Hi</h1><p>there</body></html>"
        )
        return web.Response(text=html, content_type="text/html")

    application = web.Application()
    application.router.add_get("/", page)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        fetch = tool(built_in, "fetch_page")
        assert fetch.always_asks
        told = await call(fetch, url=f"http://127.0.0.1:{runner.addresses[0][1]}/")
    finally:
        await runner.cleanup()
    assert "Hi" in told
    assert "there" in told
    assert "bad" not in told


def answered(question: str, answer: str, summary: str = "") -> tuple[Turn, Turn]:
    turn = Turn(Role.ASSISTANT, answer, summary=Summary(summary) if summary else None)
    return Turn(Role.USER, question), turn


async def test_recall_finds_what_the_summary_leaves_out(preferences) -> None:
    turns = (
        *answered("The door code of the mill is 7781.", "Noted."),
        *answered("The fee is twelve euros.", "Good.", summary="A fair is planned."),
        *answered("The door is red.", "So it is."),
    )
    recall = tool(BuiltInTools(Hits(*turns), preferences), "recall")  # type: ignore[arg-type]
    told = await call(recall, query="door code?")
    assert told.startswith("User, message 1: The door code of the mill is 7781.")
    assert "red" not in told  # the model reads that anyway
    assert await call(recall, query="elephants") == await call(recall, query="?!") == "Nothing was found."


async def test_recall_says_that_nothing_is_left_out(preferences) -> None:
    for turns in ((), answered("The door code is 7781.", "Noted.")):
        recall = tool(BuiltInTools(Hits(*turns), preferences), "recall")  # type: ignore[arg-type]
        assert await call(recall, query="code") == "All messages of this chat are in the conversation."


async def test_recall_reads_scripts_without_spaces(preferences) -> None:
    turns = answered("仓库的门禁密码是七七八一。", "好的。", summary="在计划集市。")
    recall = tool(BuiltInTools(Hits(*turns), preferences), "recall")  # type: ignore[arg-type]
    assert "七七八一" in await call(recall, query="门禁密码")
