"""The body of a chat request: converts its messages and tools to what the chat template takes."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from app.api.errors import invalid
from app.api.json_body import Body, as_json, parse
from app.api.openai import MAX_TOP_LOGPROBS, MaxTokens, OpenAiFields, limit
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams

MAX_TOOLS = 128
MAX_MESSAGES = 10_000
MAX_PARTS = 1_000  # of one message
ROLES = {"developer": Role.SYSTEM, "function": Role.TOOL}  # OpenAI's newest and oldest words

AnyObject = dict[str, Any]


# Parts of a message that OpenAI's models take.
MEDIA = {"image_url": "pictures", "input_audio": "sounds", "file": "files", "video_url": "videos"}
REPLACED = {"functions": "tools", "function_call": "tool_choice"}  # OpenAI's oldest fields, by the newer ones


class TextPart(Body):
    type: Literal["text"]
    text: str

    @model_validator(mode="before")
    @classmethod
    def _refuse_media(cls, part: Any) -> Any:
        """Raises ApiError: what pydantic would say, which tries all types of a content, misleads."""
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind in MEDIA:
            raise invalid(f"messages: {MEDIA[kind]} ({kind}) are not supported, only text.", "messages")
        return part


class CalledFunction(Body):
    name: str
    arguments: str | AnyObject = "{}"


class Call(Body):
    id: str | None = None
    type: Literal["function"] = "function"
    function: CalledFunction


class MessageFields(Body):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[list[TextPart], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None
    name: str | None = None
    tool_calls: Annotated[list[Call], Field(max_length=MAX_TOOLS, fail_fast=True)] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None

    def text(self, between_parts: str = "\n") -> str:
        if isinstance(self.content, list):
            return between_parts.join(part.text for part in self.content)
        return self.content or ""

    def message(self) -> Message:
        if self.content is None and not self.tool_calls:
            raise invalid(f"messages: the {self.role} message has no content.")
        fields: AnyObject = {
            "name": self.name,
            "tool_call_id": self.tool_call_id,
            "reasoning_content": self.reasoning_content,
        }
        if self.tool_calls:
            fields["tool_calls"] = [_call_for_template(call) for call in self.tool_calls]
        given = {name: value for name, value in fields.items() if value is not None}
        role = ROLES.get(self.role) or Role(self.role)
        return Message(role, self.text(), as_json(given) if given else "")


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
    continue_final_message: bool | None = None
    verbose: bool | None = None  # llama-server's: return the whole prompt, and more, with the answer

    def note_unknown(self, body: AnyObject) -> None:
        """Raises ApiError for those without which the answer would be another one than was asked for."""
        super().note_unknown(body)
        for name in self._unknown:
            if name in REPLACED:
                raise invalid(f"{name} is not supported: use {REPLACED[name]}.", name)
            if name in ("audio", "modalities") and body[name] != ["text"]:
                raise invalid(f"{name}: this server answers in text only.", name)

    @property
    def offered_tools(self) -> list[Tool]:
        return [] if self.tool_choice == "none" else self.tools or []

    @property
    def tool_names(self) -> list[str]:
        return [tool.function.name for tool in self.offered_tools]

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
        messages, answer_start = self._split_messages()
        max_tokens = self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens
        return Request(
            request_id=uuid.uuid4().hex,
            chat_id="",
            messages=tuple(messages),
            sampling=self._sampling(recommended, 0),
            max_tokens=limit(max_tokens),
            stop=self.stops,
            num_logprobs=self._num_logprobs(),
            answer_start=answer_start,
            template_variables=self._template_variables(),
        )

    def _split_messages(self) -> tuple[list[Message], str]:
        """As in llama-server, an assistant message at the end is the beginning of the answer."""
        if self.add_generation_prompt and self.continue_final_message:
            raise invalid("add_generation_prompt and continue_final_message exclude each other.")
        messages = [one.message() for one in self.messages]
        if messages[-1].role is not Role.ASSISTANT:
            if self.continue_final_message:
                raise invalid("continue_final_message needs an assistant message at the end.")
            return messages, ""
        if messages[-1].fields or (messages[-2:-1] and messages[-2].role is Role.ASSISTANT):
            raise invalid("messages: an assistant's tool calls, or two of its messages, cannot be the last.")
        return messages[:-1], self.messages[-1].text(between_parts="\n\n")  # as in llama-server

    def _template_variables(self) -> str:
        variables = dict(self.chat_template_kwargs or {})
        if self.add_generation_prompt is False and self.messages[-1].role != "assistant":
            variables["add_generation_prompt"] = False
        if self.offered_tools:
            variables["tools"] = [tool.model_dump(exclude_none=True) for tool in self.offered_tools]
        return as_json(variables) if variables else ""

    def _num_logprobs(self) -> int:
        if self.top_logprobs and not self.logprobs:
            raise invalid("top_logprobs needs logprobs: true.")
        return max(self.top_logprobs or 0, 1) if self.logprobs else 0

    def _sampling(self, recommended: SamplingParams, copy: int) -> SamplingParams:
        sampling = self.sampling(recommended, copy)
        schemas = [self._schema_of_tool_call()]
        if self.response_format:
            schemas.append(self.response_format.json_schema_for_answer())
        for schema in schemas:
            if schema is not None:
                if sampling.json_schema or sampling.grammar:
                    raise invalid("An answer can follow one grammar, JSON schema or tool choice, not two.")
                sampling = replace(sampling, json_schema=as_json(schema))
        return sampling

    def _schema_of_tool_call(self) -> AnyObject | None:
        """A schema that forces the model to call a tool, where the caller requires one."""
        if self.tool_choice in (None, "auto", "none"):
            return None
        tools = self.offered_tools
        if isinstance(self.tool_choice, NamedTool):
            tools = [tool for tool in tools if tool.function.name == self.tool_choice.function.name]
        if not tools:
            raise invalid("tool_choice: there is no such tool among tools.")
        return {"anyOf": [_call_schema(tool.function) for tool in tools]}


def _call_schema(function: Function) -> AnyObject:
    properties = {"name": {"const": function.name}, "arguments": function.parameters or {"type": "object"}}
    return {"type": "object", "properties": properties, "required": ["name", "arguments"]}


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
