"""The body of a chat request: converts its messages and tools to what the chat template takes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from app.api.errors import invalid
from app.api.json_body import Body, as_json, parse
from app.api.media import base64_of, unread
from app.api.openai import MAX_TOKENS, MAX_TOP_LOGPROBS, MaxTokens, OpenAiFields, limit
from app.protocol.answer_format import UNLIMITED, AnswerWishes, ReasoningFormat, ToolChoice
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams

MAX_TOOLS = 400  # OpenAI takes 128, others more; the grammar of their calls has this many ways to begin
MAX_MESSAGES = 10_000
MAX_PARTS = 1_000  # of one message
ROLES = {"developer": Role.SYSTEM, "function": Role.TOOL}  # OpenAI's newest and oldest words

AnyObject = dict[str, Any]
Budget = Annotated[int, Field(ge=UNLIMITED, le=MAX_TOKENS)]  # -1: as much as the answer may have


# Parts of a message that OpenAI's models take.
MEDIA = {"file": "files", "video_url": "videos"}
PART_FIELDS = ("text", "image_url", "input_audio")
REPLACED = {"functions": "tools", "function_call": "tool_choice"}  # OpenAI's oldest fields, by the newer ones


class ImageUrl(Body):
    url: str


class InputAudio(Body):
    data: str


class Part(Body):
    """A picture or a sound is in the body itself, in base64."""

    type: Literal["text", "image_url", "input_audio"]
    text: str | None = None
    image_url: ImageUrl | str | None = None
    input_audio: InputAudio | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_others(cls, part: Any) -> Any:
        """Raises ApiError: what pydantic would say, which tries all types of a content, misleads."""
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind in MEDIA:
            raise invalid(
                f"messages: {MEDIA[kind]} ({kind}) are not supported, only text, pictures and sounds.",
                "messages",
            )
        if isinstance(kind, str) and kind in PART_FIELDS and part.get(kind) is None:
            raise invalid(f"messages: a part of the type {kind} needs its {kind}.", "messages")
        return part

    def media(self, at: int) -> Media | None:
        """What it has besides text. Raises ApiError."""
        if self.type == "image_url":
            url = self.image_url.url if isinstance(self.image_url, ImageUrl) else self.image_url or ""
            return unread(MediaKind.PICTURE, base64_of(url), "image_url", at)
        if self.input_audio:
            return unread(MediaKind.SOUND, self.input_audio.data, "input_audio.data", at)
        return None


class CalledFunction(Body):
    name: str
    arguments: str | AnyObject = "{}"


class Call(Body):
    id: str | None = None
    type: Literal["function"] = "function"
    function: CalledFunction


class MessageFields(Body):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[list[Part], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None
    name: str | None = None
    reasoning_content: str | None = None
    tool_calls: Annotated[list[Call], Field(max_length=MAX_TOOLS, fail_fast=True)] | None = None
    tool_call_id: str | None = None

    def _content(self, between_parts: str) -> tuple[str, tuple[Media, ...]]:
        """The text, and where pictures and sounds stand in it. Around those nothing is put between parts."""
        if not isinstance(self.content, list):
            return self.content or "", ()
        text, media = "", list[Media]()
        joins = False
        for part in self.content:
            if one := part.media(len(text)):
                media.append(one)
                joins = False
            else:
                text += (between_parts if joins else "") + (part.text or "")
                joins = True
        return text, tuple(media)

    def message(self, is_last: bool) -> Message:
        if self.content is None and not self.tool_calls and not self.reasoning_content:
            raise invalid(f"messages: the {self.role} message has no content.")
        fields: AnyObject = {
            "name": self.name,
            "tool_call_id": self.tool_call_id,
            "reasoning_content": self.reasoning_content or None,
        }
        if self.tool_calls:
            fields["tool_calls"] = [_call_for_template(call) for call in self.tool_calls]
        given = {name: value for name, value in fields.items() if value is not None}
        role = ROLES.get(self.role) or Role(self.role)
        # As llama-server joins them where it goes on with a message, and where it does not.
        text, media = self._content("\n\n" if is_last and role is Role.ASSISTANT else "\n")
        return Message(role, text, as_json(given) if given else "", media=media)


class Function(Body):
    name: Annotated[str, Field(min_length=1, max_length=256)]
    description: str | None = None
    parameters: AnyObject | None = None


class Tool(Body):
    type: Literal["function"]
    function: Function


class NamedFunction(Body):
    name: str


class NamedTool(Body):
    type: Literal["function"] = "function"
    function: NamedFunction


class SchemaFormat(Body):
    schema_: Annotated[AnyObject, Field(alias="schema")]


class ResponseFormat(Body):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: SchemaFormat | None = None
    schema_: Annotated[AnyObject | None, Field(alias="schema")] = None

    def json_schema_for_answer(self) -> AnyObject | None:
        match self.type:
            case "text":
                return None
            case "json_object":
                return self.schema_ if self.schema_ is not None else {"type": "object"}
        if self.json_schema is None:
            raise invalid("response_format: a json_schema needs its schema.")
        return self.json_schema.schema_


class ChatFields(OpenAiFields):
    messages: Annotated[list[MessageFields], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
    max_completion_tokens: MaxTokens | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=MAX_TOP_LOGPROBS)] | None = None
    response_format: ResponseFormat | None = None
    tools: Annotated[list[Tool], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    chat_template_kwargs: AnyObject | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool | Literal["content", "reasoning_content"] | None = None
    reasoning_format: Literal["none", "auto", "deepseek"] | None = None
    reasoning_effort: str | None = None
    reasoning_budget: Budget | None = None
    reasoning_budget_tokens: Budget | None = None  # llama-server's name, as is the next
    thinking_budget_tokens: Budget | None = None
    reasoning_budget_message: str | None = None
    shelf: str | None = None  # ours: the name or the id of a shelf that the model reads
    verbose: bool | None = None  # llama-server's: return the whole prompt, and more, with the answer

    def note_unknown(self, body: AnyObject) -> None:
        """Raises ApiError for those without which the answer would be another one than was asked for."""
        super().note_unknown(body)
        for name in self._unknown:
            if name in REPLACED:
                raise invalid(f"{name} is not supported: use {REPLACED[name]}.", name)
            if name in ("audio", "modalities") and body[name] != ["text"]:
                raise invalid(f"{name}: this server answers in text only.", name)

    def requests(self, recommended: SamplingParams) -> list[Request]:
        """Raises ApiError and InvalidRequestError."""
        first = self.request(recommended)
        copies = [
            replace(
                first,
                request_id=uuid.uuid4().hex,
                sampling=self._sampling(recommended, copy),
                keep_cells=False,
            )
            for copy in range(1, self.num_copies)
        ]
        return [first, *copies]

    def request(self, recommended: SamplingParams) -> Request:
        max_tokens = self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens
        return Request(
            request_id=uuid.uuid4().hex,
            chat_id="",
            messages=tuple(one.message(is_last) for one, is_last in self._messages_with_last()),
            sampling=self._sampling(recommended, 0),
            max_tokens=limit(max_tokens),
            stop=self.stops,
            num_logprobs=self._num_logprobs(),
            template_variables=self._template_variables(),
            wishes=self._wishes(),
        )

    def _messages_with_last(self) -> Iterator[tuple[MessageFields, bool]]:
        return ((one, one is self.messages[-1]) for one in self.messages)

    def _wishes(self) -> AnswerWishes:
        budgets = (self.reasoning_budget, self.reasoning_budget_tokens, self.thinking_budget_tokens)
        return AnswerWishes(
            tools=self._offered_tools(),
            tool_choice=self._tool_choice(),
            parallel_tool_calls=self.parallel_tool_calls,
            reasoning_format=ReasoningFormat(self.reasoning_format or "auto"),
            goes_on=self._goes_on(),
            reasoning_budget=next((one for one in budgets if one is not None), UNLIMITED),
            reasoning_end=self.reasoning_budget_message or "",
        )

    def _offered_tools(self) -> str:
        """A named tool is the only one that the model is shown."""
        tools = self.tools or []
        if isinstance(self.tool_choice, NamedTool):
            tools = [tool for tool in tools if tool.function.name == self.tool_choice.function.name]
        if not tools and self.tool_choice not in (None, "auto", "none"):
            raise invalid("tool_choice: there is no such tool among tools.")
        return as_json([tool.model_dump(exclude_none=True) for tool in tools]) if tools else ""

    def _tool_choice(self) -> ToolChoice:
        if isinstance(self.tool_choice, NamedTool):
            return ToolChoice.REQUIRED
        return ToolChoice(self.tool_choice or "auto")

    def _goes_on(self) -> bool | str:
        """As in llama-server, an assistant message at the end is the beginning of the answer."""
        if self.add_generation_prompt and self.continue_final_message:
            raise invalid("add_generation_prompt and continue_final_message exclude each other.")
        roles = [one.role for one in self.messages]
        if roles[-1] != "assistant":
            if self.continue_final_message:
                raise invalid("continue_final_message needs an assistant message at the end.")
            return False
        if self.messages[-1].tool_calls or roles[-2:-1] == ["assistant"]:
            raise invalid("messages: an assistant's tool calls, or two of its messages, cannot be the last.")
        return self.continue_final_message or True

    def _template_variables(self) -> str:
        variables = dict(self.chat_template_kwargs or {})
        if not isinstance(variables.get("enable_thinking", True), bool):
            raise invalid("chat_template_kwargs: enable_thinking must be true or false.")
        if self.reasoning_effort == "none":
            variables["enable_thinking"] = False
        elif self.reasoning_effort:
            variables["reasoning_effort"] = self.reasoning_effort
        if self.add_generation_prompt is False and self.messages[-1].role != "assistant":
            variables["add_generation_prompt"] = False
        return as_json(variables) if variables else ""

    def _num_logprobs(self) -> int:
        if self.top_logprobs and not self.logprobs:
            raise invalid("top_logprobs needs logprobs: true.")
        return max(self.top_logprobs or 0, 1) if self.logprobs else 0

    def _sampling(self, recommended: SamplingParams, copy: int) -> SamplingParams:
        sampling = self.sampling(recommended, copy)
        schema = self.response_format.json_schema_for_answer() if self.response_format else None
        if schema is None:
            return sampling
        if sampling.json_schema or sampling.grammar:
            raise invalid("An answer can follow one grammar or JSON schema, not two.")
        return replace(sampling, json_schema=as_json(schema or {"type": "object"}))


def _call_for_template(call: Call) -> AnyObject:
    """Templates take the arguments as an object, OpenAI sends them as text."""
    arguments: object = call.function.arguments
    if isinstance(arguments, str):
        try:
            arguments = parse(arguments.encode() or b"{}")
        except ValueError:
            raise invalid("messages: the arguments of a tool call are no JSON object.") from None
    if not isinstance(arguments, dict):
        raise invalid("messages: the arguments of a tool call are no JSON object.")
    function = {"name": call.function.name, "arguments": arguments}
    return {"id": call.id or "", "type": "function", "function": function}
