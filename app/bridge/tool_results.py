"""How much of a tool's result the model is told at once, and how it reads the rest. GUI thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from app.bridge.engines import ChatEngine
from app.bridge.tool_rounds import OfferedTool
from app.chats.chat import Chat
from app.chats.tool_use import READ_MORE, ToolUse
from app.protocol.errors import EngineError, RequestError
from app.tools.tool import Tool, ToolError, run_by_its_chat

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

MAX_CHARS_PER_TOKEN = 16  # of what is looked at; more is a run of one character
MAX_LOOKED_AT = 900_000  # characters; see `prompt_builder.MAX_CHARS`
USUAL_CHARS_PER_TOKEN = 3
_PARAMETERS = {
    "type": "object",
    "properties": {"call_id": {"type": "string"}, "offset": {"type": "integer", "minimum": 0}},
    "required": ["call_id", "offset"],
}


async def num_told(engine: ChatEngine, result: str, max_tokens: int) -> int | None:
    """Characters of `result` that have about `max_tokens` tokens, up to a line's end. None: all of it."""
    if len(result.encode()) <= max_tokens:  # a token has a byte at least
        return None
    try:
        return await asyncio.wrap_future(engine.use_prompts(partial(_num_fitting, result, max_tokens)))
    except (EngineError, RequestError):
        num_chars = max_tokens * USUAL_CHARS_PER_TOKEN
        return num_chars if num_chars < len(result) else None


def _num_fitting(result: str, max_tokens: int, prompts: PromptBuilder) -> int | None:
    """The prompt thread."""
    looked_at = result[: min(max_tokens * MAX_CHARS_PER_TOKEN, MAX_LOOKED_AT)]
    tokens = prompts.tokenize(looked_at, parse_special=False)
    if len(tokens) <= max_tokens:
        return len(looked_at) if len(looked_at) < len(result) else None
    num_chars = len(b"".join(prompts.written(tokens[:max_tokens])).decode("utf-8", "ignore"))
    line_end = result.rfind("\n", num_chars // 2, num_chars)
    return line_end + 1 if line_end >= 0 else num_chars


def read_more(chat: Chat, num_told: Callable[[str], Awaitable[int | None]]) -> OfferedTool:
    """The tool for it, which tells `num_told` characters at once, too.

    It is offered with all others from the beginning: a tool that came later would have the whole prompt
    computed again, just when that is long.
    """

    async def run(_use: ToolUse, arguments: dict[str, Any]) -> str:
        use = _found(chat, str(arguments["call_id"]))
        offset = max(int(arguments["offset"]), 0)
        rest = use.result[offset:]
        if not rest:
            raise ToolError(f"The result has {len(use.result):,} characters. There is nothing at {offset:,}.")
        told = await num_told(rest)
        if told is None:
            return rest
        end = offset + told
        return f"{rest[:told]}\n[{len(use.result) - end:,} characters follow, from offset {end}.]"

    return OfferedTool(_tool(), run, needs_permission=False)


def _tool() -> Tool:
    return Tool(
        READ_MORE,
        "Read more of a result",
        "Reads on in a tool result of which only the beginning was shown.",
        _PARAMETERS,
        run_by_its_chat,
        kind="skein",
    )


def _found(chat: Chat, call_id: str) -> ToolUse:
    """The newest of them: some models number their calls in each answer anew."""
    for turn in (*reversed(chat.turns), *chat.all_turns()):
        for use in _newest_first(use for round_ in turn.rounds for use in round_.uses):
            if use.id == call_id:
                return use
    raise ToolError(f"There is no call {call_id} with a result.")


def _newest_first(uses: Iterable[ToolUse]) -> Iterable[ToolUse]:
    return reversed(list(uses))
