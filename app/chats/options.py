"""A chat's own options as one value: to be shown, changed, or saved as a preset. Any thread.

Sampling options become JSON and are validated on their way back. A banned token is `false` there, as in
llama.cpp's own API: JSON has no infinity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from app.chats.attachment import valid_unicode
from app.chats.chat import Chat
from app.protocol.errors import InvalidRequestError
from app.protocol.request import Overflow
from app.protocol.sampling import INTEGERS, NEVER, SamplingParams


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """`sampling` has only what the chat overrides. Zero and None mean the value of the settings."""

    system_prompt: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    overflow: Overflow = Overflow.SUM_UP
    max_context_tokens: int = 0
    tools: tuple[str, ...] = ()
    model: str = ""  # address of the model that answers, where that is not the chat's

    @classmethod
    def of(cls, chat: Chat) -> Self:
        sampling = {name: frozen(name, value) for name, value in chat.sampling.items()}
        limits = (chat.max_tokens, chat.overflow, chat.max_context_tokens)
        return cls(chat.system_prompt, sampling, *limits, tools=chat.tools)

    def apply_to(self, chat: Chat) -> None:
        """From the next message on."""
        chat.system_prompt = valid_unicode(self.system_prompt)
        chat.sampling = dict(self.sampling)
        chat.max_tokens = self.max_tokens
        chat.overflow = self.overflow
        chat.max_context_tokens = self.max_context_tokens
        chat.tools = self.tools


NAMES = frozenset(field.name for field in fields(SamplingParams))


class BadSamplingError(ValueError):
    """`name` is the setting that cannot be used; the message says why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name
        self.reason = reason


def to_json(sampling: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in sampling.items()}


def from_json(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Raises BadSamplingError. Unknown settings, as of a later version, are left out."""
    sampling = {}
    for name in NAMES & stored.keys():
        value = frozen(name, stored[name])
        try:
            SamplingParams(**{"temperature": 100.0, name: value})  # hot enough for any range around it
        except InvalidRequestError as error:
            raise BadSamplingError(name, str(error)) from None
        sampling[name] = value
    _check_together(sampling)
    return sampling


def _check_together(sampling: dict[str, Any]) -> None:
    try:
        SamplingParams(**{"temperature": 100.0} | sampling)
    except InvalidRequestError as error:
        clash = "dynatemp_range" if "dynatemp_range" in str(error) else "json_schema"
        raise BadSamplingError(clash, str(error)) from None


def frozen(name: str, value: Any) -> Any:
    """The value that SamplingParams takes: JSON knows no tuples, and writes 40.0 where somebody meant 40."""
    if isinstance(value, float) and value.is_integer() and (name in INTEGERS or name == "seed"):
        return int(value)
    if name == "logit_bias" and isinstance(value, list | tuple):
        return tuple(_pair(entry) for entry in value)
    return tuple(value) if isinstance(value, list) else value


def _pair(entry: Any) -> Any:
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return entry
    return (entry[0], NEVER if entry[1] is False else entry[1])


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return False if value == NEVER else value
