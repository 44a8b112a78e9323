"""The tools that Skein brings along, off until a chat turns them on. GUI thread; others do the work."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from app.attachments.file_reading import FileReading
from app.attachments.refusal import RefusedError
from app.chats.chat import Chat
from app.media.reading import ReadingCancelledError
from app.models.off_loop import off_loop
from app.services.preferences import Preferences
from app.shelves.recall import recalled, said_in
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.search import FOUND_END, FOUND_START
from app.tools import web_page
from app.tools.calculator import calculator_tool
from app.tools.clock import clock_tool
from app.tools.delegate import delegate_tool
from app.tools.file_tools import FileTools
from app.tools.server_config import BUILT_IN, RECALL
from app.tools.tool import Result, Surroundings, Tool, ToolError

MAX_HITS, MAX_FOUND = 20, 6
READING = {"read_file": "read_file", "file_glob_search": "find_files", "grep_search": "search_files"}


class BuiltInTools:
    def __init__(
        self,
        store: ChatStore,
        preferences: Preferences,
        is_allowed: web_page.IsAllowed = web_page.is_public,
    ) -> None:
        self._store, self._preferences, self._is_allowed = store, preferences, is_allowed

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Tools on files come with the first folder that the user names."""
        return (
            clock_tool(f"{BUILT_IN}/time"),
            calculator_tool(f"{BUILT_IN}/calculate"),
            self._search_tool(),
            self._recall_tool(),
            self._fetch_tool(),
            delegate_tool(),
            *self._file_tools(),
        )

    def _file_tools(self) -> list[Tool]:
        folders = [folder for folder in self._preferences.settings.tool_folders if folder.is_dir()]
        if not folders:
            return []
        below = " Folders: " + ", ".join(map(str, folders))
        return [
            replace(
                tool,
                name=READING[tool.name],
                description=tool.description + below,
                call=_in_folder(tool, folders[0]),
                kind="builtin",
                key=f"{BUILT_IN}/{READING[tool.name]}",
            )
            for tool in FileTools(folders).tools()
            if tool.name in READING
        ]

    def _search_tool(self) -> Tool:
        query = {
            "type": "string",
            "description": "words that all occur in a message; phrases in double quotes",
        }
        limit = {"type": "integer", "minimum": 1, "maximum": MAX_HITS}
        return Tool(
            "search_chats",
            "Search chats",
            "Search the messages of the user's earlier chats. Returns titles, dates and excerpts.",
            {"type": "object", "properties": {"query": query, "limit": limit}, "required": ["query"]},
            self._search,
            "builtin",
            key=f"{BUILT_IN}/search_chats",
        )

    async def _search(self, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        words, limit = str(arguments.get("query", "")), arguments.get("limit", 10)
        limit = min(max(limit, 1), MAX_HITS) if isinstance(limit, int) else 10
        try:
            # The chat that asks has the words in its question.
            hits = await self._store.search(words, 4 * MAX_HITS)
        except StorageError as error:
            raise ToolError(str(error)) from error
        found = [hit for hit in hits if hit.chat_id != where.chat_id][:limit]
        if not found:
            return {"plain_text_response": "Nothing was found."}
        lines = []
        for hit in found:
            day = datetime.fromtimestamp(hit.created_at).astimezone()
            excerpt = " ".join(hit.snippet.replace(FOUND_START, "").replace(FOUND_END, "").split())
            lines.append(f"{hit.title or 'Untitled'} ({day:%Y-%m-%d}): {excerpt}")
        return {"plain_text_response": "\n".join(lines)}

    def _recall_tool(self) -> Tool:
        query = {"type": "string", "description": "a few words that occur in what is looked for"}
        return Tool(
            "recall",
            "Recall earlier messages",
            "Search the earlier messages of this chat that its summary stands for. They have every detail.",
            {"type": "object", "properties": {"query": query}, "required": ["query"]},
            self._recall,
            "builtin",
            is_harmless=True,
            key=RECALL,
        )

    async def _recall(self, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        try:
            kept = await self._store.load_chat(where.chat_id)
            turns = (await self._store.load_turns(kept)).shown if kept else []
        except StorageError as error:
            raise ToolError(str(error)) from error
        num_summed_up = Chat(turns=turns).num_summed_up()
        if not num_summed_up:
            return {"plain_text_response": "All messages of this chat are in the conversation."}
        query = str(arguments.get("query", ""))
        known = said_in(turns[:num_summed_up])
        found = await asyncio.to_thread(recalled, known, query, MAX_FOUND)
        told = "\n\n".join(f"{one.place}: {one.text}" for one in found)
        return {"plain_text_response": told or "Nothing was found."}

    def _fetch_tool(self) -> Tool:
        url = {"type": "string", "description": "begins with https:// or http://"}
        return Tool(
            "fetch_page",
            "Fetch a web page",
            "Fetch a page from the public web and return its text.",
            {"type": "object", "properties": {"url": url}, "required": ["url"]},
            self._fetch,
            "builtin",
            writes=True,  # an address can carry what is in the chat
            key=f"{BUILT_IN}/fetch_page",
            always_asks=True,
        )

    async def _fetch(self, arguments: Mapping[str, Any], _where: Surroundings) -> Result:
        page = await web_page.fetch(str(arguments.get("url", "")), self._is_allowed)
        return {"plain_text_response": f"{page.url}\n\n{await _text_of(page)}"}


def _in_folder(tool: Tool, folder: Path) -> Any:
    """A path that begins nowhere begins in the first folder."""

    async def call(arguments: Mapping[str, Any], where: Surroundings) -> Result:
        return await tool.call(arguments, replace(where, folder=str(folder)))

    return call


async def _text_of(page: web_page.WebPage) -> str:
    """Read as an attached file is: in a child process with limits. Raises ToolError."""
    with tempfile.TemporaryDirectory(prefix="skein-") as folder:
        file = Path(folder, f"page{page.suffix}")
        await asyncio.to_thread(file.write_bytes, page.content)
        reading = FileReading(file)
        try:
            return (await off_loop(reading.run)).text
        except (RefusedError, ReadingCancelledError) as error:
            raise ToolError("the page has no text that can be read") from error
        finally:
            reading.cancel()
