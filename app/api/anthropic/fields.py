"""The body of a request for a message, and the chat that it means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from app.api.as_chat import (
    assistant_message,
    function_call,
    function_tool,
    image_part,
    named_choice,
    schema_format,
    text_part,
    text_parts,
    thinking,
    without_none,
    without_unknown,
)
from app.api.chat_fields import MAX_MESSAGES, MAX_PARTS, MAX_TOOLS, note_of
from app.api.compaction import stand_in
from app.api.errors import invalid
from app.api.json_body import AnyObject, Body, as_json
from app.api.openai import MaxTokens
from app.api.parameters import MAX_STOPS, SamplingFields, Stop

# Claude Code stamps each request with another number. The same one each time leaves prompts that begin alike.
BILLING_HEADER = "x-anthropic-billing-header:"
STAMP = re.compile(r"\bcch=[0-9a-f]{5};")
ANY_STAMP = "cch=fffff;"


# Blocks that are no part of a content.
APART = {"tool_use", "tool_result", "thinking", "redacted_thinking", "compaction"}
COMPACT, CLEAR_USES = "compact_20260112", "clear_tool_uses_20250919"
CLEAR_THINKING = "clear_thinking_20251015"
TRIGGERS = {COMPACT: 150_000, CLEAR_USES: 100_000, CLEAR_THINKING: 0}  # tokens, where nothing else is said
KEPT = {CLEAR_USES: 3, CLEAR_THINKING: 1}
TYPES = APART | {"text", "image", "document", "search_result", "tool_reference"}


class MediaSource(Body):
    """A picture or a document: its data, or where it is."""

    type: str
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    content: str | Annotated[list[ContentBlock], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None

    @property
    def as_url(self) -> str:
        if self.type == "base64":
            return f"data:{self.media_type or 'image/*'};base64,{self.data or ''}"
        return self.url or ""


class ContentBlock(Body):
    """Which of the fields it has depends on its type."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    tool_name: str | None = None
    input: AnyObject | str | None = None  # a text: what a stream has told of it
    tool_use_id: str | None = None
    content: str | Annotated[list[ContentBlock], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None
    source: MediaSource | str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_unknown(cls, block: Any) -> Any:
        return without_unknown(block, TYPES)

    @property
    def picture(self) -> str | None:
        return self.source.as_url if self.type == "image" and isinstance(self.source, MediaSource) else None

    @property
    def words(self) -> str | None:
        """None: it has none that could be read."""
        match self.type, self.source:
            case "text", _:
                return self.text or ""
            case "tool_reference", _:
                return self.tool_name
            case "search_result", _:
                return _words(self.content)
            case "document", MediaSource(type="text"):
                return self.source.data
            case "document", MediaSource(type="content"):
                return _words(self.source.content)
        return None

    @property
    def summary(self) -> str:
        """Of what was before a compaction. One that failed has none, and changes nothing."""
        return _words(self.content) if self.type == "compaction" else ""

    @property
    def is_left_out(self) -> bool:
        return self.type not in APART and self.picture is None and self.words is None


# Each use of a tool is one, and each result.
Blocks = Annotated[list[ContentBlock], Field(max_length=MAX_MESSAGES, fail_fast=True)]


class AnthropicMessage(Body):
    role: Literal["user", "assistant", "system"]
    content: str | Blocks | None = None

    @property
    def blocks(self) -> list[ContentBlock]:
        return self.content if isinstance(self.content, list) else []

    @property
    def asks(self) -> bool:
        """Results of tools alone begin no turn."""
        is_result = [block.type == "tool_result" for block in self.blocks]
        return self.role == "user" and not (is_result and all(is_result))

    def with_blocks(self, blocks: list[ContentBlock]) -> Self:
        return self.model_copy(update={"content": blocks}) if isinstance(self.content, list) else self

    def messages(self) -> list[AnyObject]:
        """Messages of a chat completion: each result of a tool is one of its own. Raises ApiError."""
        if not isinstance(self.content, list):
            return [{"role": self.role, "content": self.content or ""}]
        if self.role == "assistant":
            blocks = [block for block in self.content if block.type != "compaction"]
            return [_assistant(blocks)] if blocks or not self.content else []
        results = [block for block in self.content if block.type == "tool_result"]
        messages: list[AnyObject] = [
            {"role": "tool", "tool_call_id": block.tool_use_id, "content": text_parts(block.content, _part)}
            for block in results
        ]
        others = [block for block in self.content if block.type not in ("tool_result", "compaction")]
        if rest := text_parts(others, _part):
            messages.append({"role": self.role, "content": rest})
        return messages


class AnthropicTool(Body):
    """One with a type of its own is run by Anthropic, or known to its models without a description."""

    name: str | None = None
    type: str | None = None
    description: str | None = None
    input_schema: AnyObject | None = None

    @property
    def is_left_out(self) -> bool:
        return self.type not in (None, "custom")


class AnthropicToolChoice(Body):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(Body):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: Annotated[int, Field(ge=1)] | None = None


class OutputFormat(Body):
    type: Literal["json_schema"]
    schema_: Annotated[AnyObject, Field(alias="schema")]


class OutputConfig(Body):
    format: OutputFormat | None = None
    effort: str | None = None


class Amount(Body):
    type: Literal["input_tokens", "tool_uses", "thinking_turns"]
    value: Annotated[int, Field(ge=0)]


class All(Body):
    type: Literal["all"]


class Edit(Body):
    """Which of the fields it has depends on its type.

    A trigger may be as low as one likes. Anthropic compacts nothing below 50,000 tokens, which is more than
    many contexts here hold.
    """

    type: Literal["compact_20260112", "clear_tool_uses_20250919", "clear_thinking_20251015"]
    trigger: Amount | None = None
    keep: Amount | All | Literal["all"] | None = None
    clear_at_least: Amount | None = None
    clear_tool_inputs: bool | list[str] | None = None
    exclude_tools: list[str] | None = None
    instructions: str | None = None
    pause_after_compaction: bool | None = None

    @model_validator(mode="after")
    def _counts_what_it_can(self) -> Self:
        if self.type == COMPACT and self.counts_uses:
            raise invalid(f"context_management: the trigger of {COMPACT} must be input_tokens.")
        return self

    @property
    def threshold(self) -> int:
        return self.trigger.value if self.trigger else TRIGGERS[self.type]

    @property
    def counts_uses(self) -> bool:
        return self.trigger is not None and self.trigger.type == "tool_uses"

    def num_old(self, count: int) -> int:
        """How many of so many are not kept."""
        kept = KEPT[self.type] if self.keep is None else MAX_MESSAGES
        return max(count - (self.keep.value if isinstance(self.keep, Amount) else kept), 0)


class ContextManagement(Body):
    edits: Annotated[list[Edit], Field(max_length=16)] | None = None


class MessagesFields(SamplingFields):
    """`model` may be anything where there is only one. Without `max_tokens` the context is the limit."""

    metadata: Any = None  # who asks
    messages: Annotated[list[AnthropicMessage], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
    system: str | Blocks | None = None
    max_tokens: MaxTokens | None = None
    stop_sequences: Annotated[list[Stop], Field(max_length=MAX_STOPS, fail_fast=True)] | None = None
    stream: bool | None = None
    tools: Annotated[list[AnthropicTool], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: AnthropicToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    output_format: OutputFormat | None = None
    mcp_servers: Any = None
    container: Any = None
    context_management: ContextManagement | None = None
    chat_template_kwargs: AnyObject | None = None  # llama-server's
    _summary: str = PrivateAttr("")  # of what was before `messages`

    @model_validator(mode="after")
    def _from_compaction(self) -> Self:
        """The last compaction stands for all that was before it."""
        messages = self.messages
        for index, message in enumerate(messages):
            for at, block in enumerate(message.blocks):
                if block.summary:
                    rest = [message.with_blocks(message.blocks[at + 1 :])] if message.blocks[at + 1 :] else []
                    self.messages, self._summary = [*rest, *messages[index + 1 :]], block.summary
        return self

    def note_unknown(self, body: AnyObject) -> None:
        super().note_unknown(body)
        contents = (self.system, *(message.content for message in self.messages))
        blocks = (block for content in contents for block in _all_blocks(content))
        self.leave_out("messages", (block.type for block in blocks if block.is_left_out))
        self.leave_out("tools", (tool.type or "" for tool in self.tools or () if tool.is_left_out))

    @property
    def edits(self) -> list[Edit]:
        return (self.context_management and self.context_management.edits) or []

    @property
    def compacts(self) -> Edit | None:
        return next((edit for edit in self.edits if edit.type == COMPACT), None)

    def chat_body(self) -> AnyObject:
        """The body of a chat completion. Raises ApiError."""
        if self.mcp_servers or self.container:
            raise invalid("mcp_servers and container are not supported: offer their tools as your own.")
        choice = self.tool_choice
        return without_none(
            **self.model_dump(
                include=set(SamplingFields.model_fields) - {"stop"}, by_alias=True, exclude_none=True
            ),
            messages=[*self._system(), *self._chat()],
            max_tokens=self.max_tokens,
            stop=self.stop_sequences,
            tools=self._tools() or None,
            tool_choice=_tool_choice(choice) if choice else None,
            parallel_tool_calls=False if choice and choice.disable_parallel_tool_use else None,
            response_format=self._response_format(),
            chat_template_kwargs=(self.chat_template_kwargs or {}) | thinking(self._thinks()) or None,
            reasoning_effort=self.output_config.effort if self.output_config else None,
            thinking_budget_tokens=self.thinking.budget_tokens if self.thinking else None,
            stream=self.stream,
        )

    def _chat(self) -> list[AnyObject]:
        chat = [one for message in self.messages for one in message.messages()]
        return stand_in(self._summary, chat) if self._summary else chat

    def _system(self) -> list[AnyObject]:
        parts = text_parts(self.system, _part)
        if not parts:
            return []
        return [{"role": "system", "content": [text_part(_unstamped(part["text"])) for part in parts]}]

    def _tools(self) -> list[AnyObject]:
        return [
            function_tool(tool.name, tool.description, tool.input_schema or {"type": "object"})
            for tool in self.tools or ()
            if not tool.is_left_out
        ]

    def _response_format(self) -> AnyObject | None:
        format_ = self.output_format or (self.output_config and self.output_config.format)
        return schema_format(format_.schema_) if format_ else None

    def _thinks(self) -> bool | None:
        """Without a word of it, the model thinks if it does so by itself."""
        return {"enabled": True, "disabled": False}.get(self.thinking.type) if self.thinking else None


def _tool_choice(choice: AnthropicToolChoice) -> str | AnyObject:
    if choice.type == "tool":
        return named_choice(choice.name)
    return "required" if choice.type == "any" else choice.type


def _assistant(blocks: list[ContentBlock]) -> AnyObject:
    calls = [_call(block) for block in blocks if block.type == "tool_use"]
    thought = "".join(block.thinking or "" for block in blocks if block.type == "thinking")
    content = text_parts(
        [block for block in blocks if block.type not in APART and not block.is_left_out], _part
    )
    return assistant_message(content, thought, calls)


def _call(block: ContentBlock) -> AnyObject:
    arguments = block.input if isinstance(block.input, str) else as_json(block.input or {})
    return function_call(block.id, block.name, arguments)


def _part(block: ContentBlock) -> AnyObject:
    if block.picture is not None:
        return image_part(block.picture)
    return text_part(note_of(block.type) if block.words is None else block.words)


def _words(content: str | list[ContentBlock] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    return "\n".join(block.words for block in content if block.words is not None)


def _all_blocks(content: str | list[ContentBlock] | None) -> Iterator[ContentBlock]:
    for block in content if isinstance(content, list) else ():
        yield block
        yield from _all_blocks(block.content if block.type == "tool_result" else None)


def _unstamped(text: str) -> str:
    return STAMP.sub(ANY_STAMP, text, count=1) if text.startswith(BILLING_HEADER) else text
