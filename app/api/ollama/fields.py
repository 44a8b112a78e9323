"""The bodies of Ollama's requests, and the chats that they mean."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from app.api.as_chat import function_call, image_part, schema_format, text_part, thinking, without_none
from app.api.chat_fields import MAX_MESSAGES, MAX_PARTS, MAX_TOOLS
from app.api.errors import invalid
from app.api.json_body import AnyObject, Body, whole
from app.api.openai import MAX_TOP_LOGPROBS
from app.api.parameters import MAX_WARNINGS, SAMPLING_NAMES
from app.protocol.sampling import shown

Images = Annotated[list[str], Field(max_length=MAX_PARTS, fail_fast=True)]  # in base64


class OllamaBody(Body):
    """Clients are written for Go, to which null is a field that is missing."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        return without_none(**value) if isinstance(value, dict) else value


class OllamaFunction(OllamaBody):
    name: str
    arguments: AnyObject | None = None


class OllamaCall(OllamaBody):
    id: str | None = None
    function: OllamaFunction


class OllamaMessage(OllamaBody):
    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    thinking: str | None = None
    images: Images | None = None
    tool_calls: Annotated[list[OllamaCall], Field(max_length=MAX_MESSAGES, fail_fast=True)] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None

    def as_chat(self) -> AnyObject:
        """The message of a chat completion."""
        return without_none(
            role=self.role,
            content=_content(self.content, self.images),
            reasoning_content=self.thinking,
            name=self.tool_name,
            tool_calls=[
                function_call(call.id, call.function.name, call.function.arguments)
                for call in self.tool_calls or ()
            ]
            or None,
            tool_call_id=self.tool_call_id,
        )


class OllamaFields(OllamaBody):
    """`model` may be anything where there is only one. It stays loaded, whatever `keep_alive` says."""

    stream: bool | None = None
    format: str | AnyObject | None = None
    options: AnyObject | None = None
    think: bool | str | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=MAX_TOP_LOGPROBS)] | None = None

    @property
    def is_streamed(self) -> bool:
        return self.stream is not False

    @property
    def warnings(self) -> list[str]:
        """What goes beside the answer: a sentence for each option that had no effect on it."""
        others = self._options.keys() - {*SAMPLING_NAMES, "num_predict"}
        return [f"The option {shown(name)} has no effect here." for name in sorted(others)[:MAX_WARNINGS]]

    @property
    def max_tokens(self) -> int | None:
        """Raises ApiError. Both -1 and -2 mean what the context holds."""
        wanted = self._options.get("num_predict")
        if wanted is None or wanted in (-1, -2):
            return None
        if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 0:
            raise invalid("options: num_predict must be a number of tokens, or -1.")
        return wanted

    @property
    def sampling_options(self) -> AnyObject:
        """The options that SamplingFields knows by the same names."""
        return {name: value for name, value in self._options.items() if name in SAMPLING_NAMES}

    @property
    def json_schema(self) -> AnyObject | None:
        """That of the answer. Raises ApiError."""
        if isinstance(self.format, dict):
            return self.format
        if self.format not in (None, "", "json"):
            raise invalid('format: must be a JSON schema, or "json".')
        return {"type": "object"} if self.format else None

    def body(self, messages: list[AnyObject], tools: list[AnyObject] | None = None) -> AnyObject:
        """The body of a chat completion. Raises ApiError."""
        effort = self.think if isinstance(self.think, str) else None
        thinks = None if self.think is None else bool(self.think)
        schema = self.json_schema
        return without_none(
            **self.sampling_options,
            messages=messages,
            max_tokens=self.max_tokens,
            tools=tools,
            response_format=schema_format(schema) if schema is not None else None,
            chat_template_kwargs=thinking(thinks) or None,
            reasoning_effort=effort,
            logprobs=self.logprobs,
            top_logprobs=self.top_logprobs if self.logprobs else None,
            stream=self.is_streamed,
        )

    @property
    def _options(self) -> AnyObject:
        return {name: whole(value) for name, value in (self.options or {}).items() if value is not None}


class OllamaChatFields(OllamaFields):
    """Without messages the caller only wants the model to be there."""

    messages: Annotated[list[OllamaMessage], Field(max_length=MAX_MESSAGES, fail_fast=True)] = Field(
        default_factory=list
    )
    tools: Annotated[list[AnyObject], Field(max_length=MAX_TOOLS)] | None = None

    def chat_body(self) -> AnyObject:
        return self.body([message.as_chat() for message in self.messages], self.tools or None)


class OllamaGenerateFields(OllamaFields):
    """Without a prompt the caller only wants the model to be there."""

    prompt: str = ""
    system: str | None = None
    raw: bool | None = None
    suffix: str | None = None
    template: str | None = None
    context: list[int] | None = None
    images: Images | None = None

    def check(self) -> None:
        """Raises ApiError."""
        if self.images and (self.raw or self.suffix):
            raise invalid("images cannot be part of a raw prompt: use /api/chat.")
        if self.template or self.context:
            raise invalid("template and context are not supported: use raw, or /api/chat.")

    def chat_body(self) -> AnyObject:
        system = [{"role": "system", "content": self.system}] if self.system else []
        return self.body([*system, {"role": "user", "content": _content(self.prompt, self.images)}])


def _content(text: str, images: list[str] | None) -> str | list[AnyObject]:
    """Pictures stand before the text, as Ollama puts them."""
    if not images:
        return text
    return [*(image_part(f"data:image/*;base64,{image}") for image in images), text_part(text)]
