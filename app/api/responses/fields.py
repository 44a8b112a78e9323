"""The body of a request for a response, and the chat that it means."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from app.api.as_chat import (
    allowed_choice,
    function_call,
    function_tool,
    image_part,
    named_choice,
    schema_format,
    text_part,
    text_parts,
    without_none,
    without_unknown,
)
from app.api.chat_fields import MAX_MESSAGES, MAX_PARTS, MAX_TOOLS, note_of
from app.api.compaction import stand_in
from app.api.errors import ApiError, invalid
from app.api.json_body import AnyObject, Body, parse_object
from app.api.openai import MAX_TOP_LOGPROBS, MaxTokens
from app.api.parameters import SamplingFields
from app.protocol.sampling import shown

PART_TYPES = ("input_text", "output_text", "reasoning_text", "summary_text", "text")
REFERENCE, COMPACTION = "item_reference", "compaction"
ITEM_TYPES = ("message", "reasoning", "function_call", "function_call_output", REFERENCE, COMPACTION)
VERSION = 1  # of a compaction's content
FOREIGN_COMPACTION = (
    "input: the encrypted_content of a compaction is damaged, or from another server. Send it as it came, or "
    "what was said before in its place."
)
LOGPROBS = "message.output_text.logprobs"  # in `include`


class ResponsePart(Body):
    """A refusal has its text in `refusal`."""

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: str | None = None
    input_audio: AnyObject | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_unknown(cls, part: Any) -> Any:
        return without_unknown(part, (*PART_TYPES, "refusal", "input_image", "input_audio"))

    @property
    def words(self) -> str | None:
        """None: it has none that could be read."""
        return self.text or self.refusal or "" if self.type in (*PART_TYPES, "refusal") else None

    @property
    def is_left_out(self) -> bool:
        has_media = (self.type == "input_image" and self.image_url) or (
            self.type == "input_audio" and self.input_audio
        )
        return not has_media and self.words is None


Parts = Annotated[list[ResponsePart], Field(max_length=MAX_PARTS, fail_fast=True)]


class Item(Body):
    """One of the input. Which of the fields it has depends on its type; a message need not name its own."""

    type: str | None = None
    id: str | None = None
    role: Literal["user", "assistant", "system", "developer"] | None = None
    content: str | Parts | None = None
    summary: Parts | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: str | None = None
    output: str | Parts | None = None
    encrypted_content: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_unknown(cls, item: Any) -> Any:
        return without_unknown(item, ITEM_TYPES)

    @property
    def is_left_out(self) -> bool:
        return (self.type or "message") not in ITEM_TYPES

    @property
    def compacted(self) -> str:
        """The summary in the place of what was said before. Raises ApiError."""
        try:
            found = parse_object(base64.b64decode(self.encrypted_content or "", validate=True))
        except (ApiError, ValueError):
            found = {}
        if found.get("version") == VERSION and (summary := found.get("summary")) and isinstance(summary, str):
            return summary
        raise invalid(FOREIGN_COMPACTION, "input")

    @property
    def parts(self) -> list[ResponsePart]:
        lists = (self.content, self.output, self.summary)
        return [part for one in lists if isinstance(one, list) for part in one]


class ResponsesTool(Body):
    """A function, or a namespace of functions. Every call that follows a schema is `strict` here."""

    type: str
    strict: bool | None = None
    name: str | None = None
    namespace: str | None = None
    description: str | None = None
    parameters: AnyObject | None = None
    tools: Annotated[list[ResponsesTool], Field(max_length=MAX_TOOLS)] | None = None

    @property
    def full_name(self) -> str | None:
        return full_name(self.namespace, self.name)

    def functions(self) -> list[ResponsesTool]:
        if self.type == "namespace":
            within = [tool for tool in self.tools or () if tool.type == "function"]
            return [tool.model_copy(update={"namespace": self.name}) for tool in within]
        return [self] if self.type == "function" else []


class ResponsesToolChoice(Body):
    type: str
    name: str | None = None
    namespace: str | None = None
    mode: Literal["auto", "required"] | None = None
    tools: Annotated[list[ResponsesTool], Field(max_length=MAX_TOOLS)] | None = None


class TextFormat(Body):
    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    strict: bool | None = None
    schema_: Annotated[AnyObject | None, Field(alias="schema")] = None


class TextFields(Body):
    format: TextFormat | None = None


class ReasoningFields(Body):
    effort: str | None = None
    summary: str | None = None


class ContextEntry(Body):
    """Without a threshold a chat is summed up when it does not fit."""

    type: Literal["compaction"]
    compact_threshold: Annotated[int, Field(ge=0)] | None = None


class ResponseFields(SamplingFields):
    """`model` may be anything where there is only one."""

    input: str | Annotated[list[Item], Field(max_length=MAX_MESSAGES, fail_fast=True)] | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    stream: bool | None = None
    max_output_tokens: MaxTokens | None = None
    text: TextFields | None = None
    tools: Annotated[list[ResponsesTool], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: Literal["auto", "none", "required"] | ResponsesToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: ReasoningFields | None = None
    include: list[str] | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=MAX_TOP_LOGPROBS)] | None = None
    metadata: AnyObject | None = None
    truncation: str | None = None
    background: bool | None = None
    conversation: Any = None
    prompt: Any = None
    context_management: Annotated[list[ContextEntry], Field(max_length=1)] | None = None
    chat_template_kwargs: AnyObject | None = None  # llama-server's, as are the next
    reasoning_format: str | None = None
    thinking_budget_tokens: int | None = None
    timings_per_token: bool | None = None
    return_progress: bool | None = None

    @property
    def wants_logprobs(self) -> bool:
        return bool(self.top_logprobs) or LOGPROBS in (self.include or ())

    def note_unknown(self, body: AnyObject) -> None:
        super().note_unknown(body)
        items = self.input if isinstance(self.input, list) else []
        parts = (part for item in items if not item.is_left_out for part in item.parts)
        self.leave_out("input", (item.type or "" for item in items if item.is_left_out))
        self.leave_out("input", (part.type for part in parts if part.is_left_out))
        self.leave_out("tools", (tool.type for tool in self.tools or () if not tool.functions()))

    @property
    def warnings(self) -> list[str]:
        if self.truncation in (None, "disabled"):
            return super().warnings
        return [*super().warnings, "truncation: nothing is left out of the input."]

    @property
    def namespaces(self) -> dict[str, tuple[str, str]]:
        """Namespace and name of the functions that have one, by the names that the model knows."""
        return {
            tool.full_name: (tool.namespace, tool.name)
            for tool in self._functions()
            if tool.namespace and tool.name and tool.full_name
        }

    def chat_body(self, messages: list[AnyObject]) -> AnyObject:
        """The body of a chat completion that answers `messages`. Raises ApiError."""
        if self.background or self.conversation or self.prompt:
            raise invalid("background, conversation and prompt are not supported.")
        format_ = self.text.format if self.text else None
        instructions = [{"role": "system", "content": self.instructions}] if self.instructions else []
        return without_none(
            **self.model_dump(include=set(SamplingFields.model_fields), by_alias=True, exclude_none=True),
            messages=[*instructions, *messages],
            max_tokens=self.max_output_tokens,
            tools=[function_tool(one.full_name, one.description, one.parameters) for one in self._functions()]
            or None,
            tool_choice=self._tool_choice(),
            parallel_tool_calls=self.parallel_tool_calls,
            response_format=_response_format(format_) if format_ else None,
            logprobs=True if self.wants_logprobs else None,
            top_logprobs=self.top_logprobs if self.wants_logprobs else None,
            chat_template_kwargs=self.chat_template_kwargs,
            reasoning_effort=self.reasoning.effort if self.reasoning else None,
            reasoning_format=self.reasoning_format,
            thinking_budget_tokens=self.thinking_budget_tokens,
            stream=self.stream,
            return_progress=self.return_progress,
        )

    @property
    def refers_back(self) -> bool:
        """To what earlier responses were."""
        if self.previous_response_id or isinstance(self.input, str):
            return bool(self.previous_response_id)
        return any(item.type == REFERENCE for item in self.input or ())

    def messages(self, before: list[AnyObject], item_called: Callable[[str], Item]) -> list[AnyObject]:
        """What was said `before`, and the input, as messages without the instructions. Raises ApiError.

        `item_called` returns an item of an earlier response by its id.
        """
        if isinstance(self.input, str):
            return [*before, {"role": "user", "content": self.input}]
        if not self.input and not before:
            raise invalid("input: what is to be answered?", "input", "missing_required_parameter")
        messages, summary = list[AnyObject](), ""
        referred: set[str] = set()
        for item in self.input or ():
            item_id = item.id or ""
            if item.type == REFERENCE:
                if item_id in referred:  # a short body could become a very long chat
                    raise invalid(f"input: {shown(item_id)} is referred to twice.")
                referred.add(item_id)
                item = item_called(item_id)
            if item.type == COMPACTION:
                messages, summary = [], item.compacted
            else:
                _add(messages, item)
        return stand_in(summary, messages) if summary else [*before, *messages]

    def _functions(self) -> list[ResponsesTool]:
        return [function for tool in self.tools or () for function in tool.functions()]

    def _tool_choice(self) -> str | AnyObject | None:
        choice = self.tool_choice
        if not isinstance(choice, ResponsesToolChoice):
            return choice
        if choice.type == "allowed_tools":
            allowed = [named_choice(one.full_name) for tool in choice.tools or () for one in tool.functions()]
            return allowed_choice(choice.mode or "auto", allowed)
        if choice.type != "function":
            raise invalid(f"tool_choice: this server does not have {choice.type}.")
        return named_choice(full_name(choice.namespace, choice.name))


def full_name(namespace: str | None, name: str | None) -> str | None:
    """A model knows no namespaces. Codex's are called mcp__server__ or mcp__server."""
    return f"{namespace.rstrip('_')}__{name}" if namespace and name else name


def _response_format(format_: TextFormat) -> AnyObject:
    if format_.type != "json_schema":
        return {"type": format_.type}
    if format_.schema_ is None:
        raise invalid("text.format: a json_schema needs its schema.")
    return schema_format(format_.schema_)


def _add(messages: list[AnyObject], item: Item) -> None:
    """What a model writes in one turn is several items, but one message."""
    match item.type or "message":
        case "message" if item.role == "assistant":
            _assistant(messages)["content"] += _text_parts(item.content)
        case "message":
            messages.append({"role": item.role or "user", "content": _text_parts(item.content, notes=True)})
        case "reasoning":
            parts = _text_parts(item.content) or _text_parts(item.summary)
            if text := "".join(part.get("text", "") for part in parts):
                _assistant(messages)["reasoning_content"] = text
        case "function_call":
            call = function_call(item.call_id, full_name(item.namespace, item.name), item.arguments or "{}")
            _assistant(messages).setdefault("tool_calls", []).append(call)
        case "function_call_output":
            content = _text_parts(item.output, notes=True)
            messages.append({"role": "tool", "tool_call_id": item.call_id, "content": content})


def _assistant(messages: list[AnyObject]) -> AnyObject:
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": []})
    return messages[-1]


def _text_parts(content: str | list[ResponsePart] | None, *, notes: bool = False) -> list[AnyObject]:
    """With `notes`, the model is told what was left out."""
    if isinstance(content, list) and not notes:
        content = [part for part in content if not part.is_left_out]
    return text_parts(content, _part)


def _part(part: ResponsePart) -> AnyObject:
    if part.type == "input_image" and part.image_url:
        return image_part(part.image_url)
    if part.type == "input_audio" and part.input_audio:
        return {"type": "input_audio", "input_audio": part.input_audio}
    return text_part(note_of(part.type) if part.words is None else part.words)
