"""Clears old results of tools and old thinking out of a chat, as `context_management` wants it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import accumulate

from app.api.anthropic.fields import (
    CLEAR_THINKING,
    CLEAR_USES,
    AnthropicMessage,
    ContentBlock,
    Edit,
    MessagesFields,
)
from app.api.json_body import AnyObject

CLEARED = "[This result was cleared to make room]"
THINKING = ("thinking", "redacted_thinking")


async def edited(
    fields: MessagesFields, count: Callable[[MessagesFields], Awaitable[int]]
) -> tuple[MessagesFields, list[AnyObject]]:
    """The body without what is cleared, and what the caller is told of it. `count` counts tokens."""
    applied: list[AnyObject] = []
    for edit in fields.edits:
        if edit.type == CLEAR_USES:
            told, (messages, num) = "cleared_tool_uses", _without_uses(edit, fields.messages)
        elif edit.type == CLEAR_THINKING:
            told, (messages, num) = "cleared_thinking_turns", _without_thinking(edit, fields.messages)
        else:
            continue
        if num:
            shorter = fields.model_copy(update={"messages": messages})
            before, after = await count(fields), await count(shorter)
            is_due = edit.counts_uses or before > edit.threshold
            if is_due and before - after >= (edit.clear_at_least.value if edit.clear_at_least else 1):
                applied.append({"type": edit.type, told: num, "cleared_input_tokens": before - after})
                fields = shorter
    return fields, applied


def _without_uses(edit: Edit, messages: list[AnthropicMessage]) -> tuple[list[AnthropicMessage], int]:
    """With how many were cleared, as below."""
    uses = [block for message in messages for block in message.blocks if block.type == "tool_use"]
    num_old = 0 if edit.counts_uses and len(uses) <= edit.threshold else edit.num_old(len(uses))
    old = {one.id for one in uses[:num_old] if one.name not in (edit.exclude_tools or ())}
    inputs = edit.clear_tool_inputs

    def cleared(block: ContentBlock) -> ContentBlock:
        if block.type == "tool_result" and block.tool_use_id in old:
            return block.model_copy(update={"content": CLEARED})
        if block.id in old and inputs and (inputs is True or block.name in inputs):
            return block.model_copy(update={"input": {}})
        return block

    return [one.with_blocks([cleared(block) for block in one.blocks]) for one in messages], len(old)


def _without_thinking(edit: Edit, messages: list[AnthropicMessage]) -> tuple[list[AnthropicMessage], int]:
    turns = list(accumulate(int(one.asks) for one in messages))  # the number of each message's turn
    numbered = list(zip(turns, messages, strict=True))
    thought = {turn for turn, one in numbered if any(block.type in THINKING for block in one.blocks)}
    old = sorted(thought)[: edit.num_old(len(thought))]

    def is_left(block: ContentBlock, turn: int) -> bool:
        return turn not in old or block.type not in THINKING

    return [one.with_blocks([b for b in one.blocks if is_left(b, turn)]) for turn, one in numbered], len(old)
