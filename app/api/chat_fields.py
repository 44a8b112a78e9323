"""The body of a chat request: converts its messages and tools to what the chat template takes."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from app.api.errors import ApiError, invalid
from app.api.json_body import AnyObject, Body, as_json, begun_object
from app.api.media import base64_of, unread
from app.api.openai import MAX_TOKENS, MAX_TOP_LOGPROBS, MaxTokens, OpenAiFields, limit
from app.protocol.answer_format import UNLIMITED, ChatParams, ReasoningFormat, ToolChoice
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams, shown

MAX_TOOLS = 400  # OpenAI takes 128, others more; the grammar of their calls has this many ways to begin
MAX_MESSAGES = 10_000
MAX_PARTS = 1_000  # of one message
ROLES = {"developer": Role.SYSTEM, "function": Role.TOOL}  # OpenAI's newest and oldest words

Budget = Annotated[int, Field(ge=UNLIMITED, le=MAX_TOKENS)]  # -1: as much as the answer may have


PART_FIELDS = ("text", "image_url", "input_audio")
REPLACED = {"functions": "tools", "function_call": "tool_choice"}  # OpenAI's oldest fields, by the newer ones


class ImageUrl(Body):
    url: str


class InputAudio(Body):
    data: str


class ContentPart(Body):
    """A picture or a sound is in the body itself, in base64. A refusal has its text in `refusal`."""

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: ImageUrl | str | None = None
    input_audio: InputAudio | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_empty(cls, part: Any) -> Any:
        """Raises ApiError: what pydantic would say, which tries all types of a content, misleads."""
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind in PART_FIELDS and part.get(kind) is None:
            raise invalid(f"messages: a part of the type {kind} needs its {kind}.", "messages")
        return part

    @property
    def is_left_out(self) -> bool:
        return self.type not in PART_FIELDS and self.text is None and self.refusal is None

    def media(self, at: int) -> Media | None:
        """What it has besides text. Raises ApiError."""
        if self.type == "image_url":
            url = self.image_url.url if isinstance(self.image_url, ImageUrl) else self.image_url or ""
            return unread(MediaKind.PICTURE, base64_of(url), "image_url", at)
        if self.type == "input_audio" and self.input_audio:
            return unread(MediaKind.SOUND, self.input_audio.data, "input_audio.data", at)
        return None


class CalledFunction(Body):
    name: str
    arguments: str | AnyObject | None = None


class Call(Body):
    id: str | None = None
    type: Literal["function"] | None = None
    function: CalledFunction


class MessageFields(Body):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[list[ContentPart], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None
    name: str | None = None
    reasoning_content: str | None = None
    tool_calls: Annotated[list[Call], Field(max_length=MAX_MESSAGES, fail_fast=True)] | None = None
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
            elif not (part.is_left_out and self.role == "assistant"):  # it did not write this
                said = note_of(part.type) if part.is_left_out else part.text or part.refusal or ""
                text += (between_parts if joins else "") + said
                joins = True
        return text, tuple(media)

    def message(self, *, is_last: bool) -> Message:
        if self.content is None and self.role not in ("assistant", "tool", "function"):
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
        # llama-server joins parts so where it goes on with a message, and where it does not.
        text, media = self._content("\n\n" if is_last and role is Role.ASSISTANT else "\n")
        return Message(role, text, as_json(given) if given else "", media=media)


class Function(Body):
    name: Annotated[str, Field(min_length=1, max_length=256)]
    description: str | None = None
    parameters: AnyObject | None = None


class FunctionTool(Body):
    """One that is no function is left out."""

    type: str | None = None
    function: Function | None = None

    @property
    def is_function(self) -> bool:
        return self.type in (None, "function")

    @model_validator(mode="after")
    def _has_function(self) -> Self:
        if self.is_function and self.function is None:
            raise invalid("tools: a function needs its name.", "tools")
        return self


class NamedFunction(Body):
    name: str


class NamedTool(Body):
    type: Literal["function"] = "function"
    function: NamedFunction


class AllowedTools(Body):
    mode: Literal["auto", "required"] = "auto"
    tools: Annotated[list[NamedTool], Field(max_length=MAX_TOOLS)]


class ToolsChoice(Body):
    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


class SchemaFormat(Body):
    schema_: Annotated[AnyObject, Field(alias="schema")]


class ResponseFormat(Body):
    type: Literal["text", "json_object", "json_schema"] | None = None
    json_schema: SchemaFormat | None = None
    schema_: Annotated[AnyObject | None, Field(alias="schema")] = None

    def json_schema_for_answer(self) -> AnyObject | None:
        match self.type:
            case "text" | None:
                return None
            case "json_object":
                return self.schema_ if self.schema_ is not None else {"type": "object"}
        schema = self.json_schema.schema_ if self.json_schema else self.schema_  # llama-server's form
        if schema is None:
            raise invalid("response_format: a json_schema needs its schema.")
        return schema


class ChatFields(OpenAiFields):
    messages: Annotated[list[MessageFields], Field(min_length=1, max_length=MAX_MESSAGES, fail_fast=True)]
    max_completion_tokens: MaxTokens | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=MAX_TOP_LOGPROBS)] | None = None
    response_format: ResponseFormat | None = None
    tools: Annotated[list[FunctionTool], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedTool | ToolsChoice | None = None
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
    calls_in_text: bool | None = None  # ours: a call of a tool that the model writes as text is one
    shelf: str | None = None  # ours: the name or the id of a shelf that the model reads
    verbose: bool | None = None  # llama-server's: return the whole prompt, and more, with the answer

    @model_validator(mode="after")
    def _give_ids(self) -> Self:
        """To calls that have none, the same with each request; their results belong to them in order."""
        waiting: list[str] = []
        number = 0
        for message in self.messages:
            for call in message.tool_calls or ():
                call.id = call.id or f"call{number:05}"
                waiting.append(call.id)
                number += 1
            if message.role in ("tool", "function") and waiting:
                message.tool_call_id = message.tool_call_id or waiting[0]
                waiting = [one for one in waiting if one != message.tool_call_id]
        return self

    def note_unknown(self, body: AnyObject) -> None:
        """Raises ApiError for those without which the answer would be another one than was asked for."""
        super().note_unknown(body)
        parts = (part for one in self.messages if isinstance(one.content, list) for part in one.content)
        self.leave_out("messages", (part.type for part in parts if part.is_left_out))
        self.leave_out("tools", (tool.type or "" for tool in self.tools or () if not tool.is_function))
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
            messages=tuple(one.message(is_last=one is self.messages[-1]) for one in self.messages),
            sampling=self._sampling(recommended, 0),
            max_tokens=limit(max_tokens),
            stop=self.stops,
            num_logprobs=self._num_logprobs(),
            max_drafted_tokens=self.max_drafted_tokens,
            template_variables=self._template_variables(),
            chat_params=self._chat_params(),
        )

    def _chat_params(self) -> ChatParams:
        budgets = (self.reasoning_budget, self.reasoning_budget_tokens, self.thinking_budget_tokens)
        return ChatParams(
            tools=self._offered_tools(),
            tool_choice=self._tool_choice(),
            may_call=self._may_call(),
            parallel_tool_calls=self.parallel_tool_calls,
            reasoning_format=ReasoningFormat(self.reasoning_format or "auto"),
            goes_on=self._goes_on(),
            reasoning_budget=next((one for one in budgets if one is not None), UNLIMITED),
            reasoning_end=self.reasoning_budget_message or "",
        )

    def _offered_tools(self) -> str:
        functions = [
            tool.function.model_dump(exclude_none=True) for tool in self.tools or () if tool.function
        ]
        if not functions and self.tool_choice not in (None, "auto", "none"):
            raise _no_such_tool()
        return as_json([{"type": "function", "function": one} for one in functions]) if functions else ""

    @property
    def schemas_of_calls_in_text(self) -> dict[str, AnyObject]:
        """The parameters of the tools that may be called so, by name."""
        functions = [tool.function for tool in self.tools or () if tool.function and self.calls_in_text]
        allowed = self._may_call() or [one.name for one in functions]
        may_call = self.tool_choice != "none"
        return {one.name: one.parameters or {} for one in functions if may_call and one.name in allowed}

    def _tool_choice(self) -> ToolChoice:
        match self.tool_choice:
            case NamedTool():
                return ToolChoice.REQUIRED
            case ToolsChoice():
                return ToolChoice(self.tool_choice.allowed_tools.mode)
        return ToolChoice(self.tool_choice or "auto")

    def _may_call(self) -> tuple[str, ...]:
        """The model is shown the others, too: other tools would be another prompt, to be computed anew."""
        match self.tool_choice:
            case NamedTool():
                allowed = {self.tool_choice.function.name}
            case ToolsChoice():
                allowed = {tool.function.name for tool in self.tool_choice.allowed_tools.tools}
            case _:
                return ()
        names = (tool.function.name for tool in self.tools or () if tool.function)
        found = tuple(name for name in names if name in allowed)
        if not found:
            raise _no_such_tool()
        return found

    def _goes_on(self) -> bool | str:
        """An assistant message at the end is the beginning of the answer, as in llama-server."""
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
        if not isinstance(variables.get("enable_thinking"), bool | None):
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


def note_of(kind: str) -> str:
    """What the model reads in the place of a part that was left out."""
    return f"[{shown(kind)} was left out: this server cannot read it]"


def _no_such_tool() -> ApiError:
    return invalid("tool_choice: there is no such tool among tools.", "tool_choice")


def _call_for_template(call: Call) -> AnyObject:
    """Templates take the arguments as an object, OpenAI sends them as text."""
    arguments = call.function.arguments or {}
    text = arguments if isinstance(arguments, str) else as_json(arguments)
    function = {"name": call.function.name, "arguments": begun_object(text, keeps_last=True)}
    return {"id": call.id, "type": "function", "function": function}
