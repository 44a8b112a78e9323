"""A chat's own options as one value: to be shown, changed, or saved as a preset. Any thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from app.chats.chat import Chat
from app.chats.sampling_json import frozen
from app.chats.text import valid_unicode
from app.protocol.request import Overflow


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """`sampling` has only what the chat overrides. Zero and None mean the value of the settings."""

    system_prompt: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    overflow: Overflow = Overflow.STOP
    max_context_tokens: int = 0
    tools: tuple[str, ...] = ()

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
