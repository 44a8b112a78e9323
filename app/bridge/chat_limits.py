"""How long a chat may get, and how its answers are sampled: its choices over the settings. GUI thread."""

from typing import Any

from app.bridge.engines import ChatEngine
from app.bridge.parameters import chosen_sampling, context_cap, max_answer_tokens, sampling_params
from app.chats.chat import Chat
from app.protocol.model import ModelInfo
from app.protocol.request import Overflow
from app.settings.settings import Settings


class ChatLimits:
    def __init__(self, chat: Chat, engine: ChatEngine, settings: Settings) -> None:
        self._chat, self._engine, self._settings = chat, engine, settings

    def context(self, n_ctx: int) -> int:
        """How many tokens this chat can have, where the context has room for `n_ctx`."""
        return min(n_ctx, context_cap(self._settings, self._chat) or n_ctx)

    @property
    def room(self) -> int:
        """Tokens that the chat can have with the active model; 0 without one."""
        model = self._engine.model
        return self.context(model.max_sequence_tokens) if model else 0

    @property
    def answer(self) -> int | None:
        """Tokens of an answer. None: what the context holds."""
        return max_answer_tokens(self._settings, self._chat)

    def of_request(self, chat: Chat | None = None, model: ModelInfo | None = None) -> dict[str, Any]:
        """Fields of a Request. `chat`: with other options than its own. `model`: another one."""
        chat, model = chat or self._chat, model or self._engine.model
        return {
            "sampling": sampling_params(self._settings, chat, model),
            "chosen": tuple(chosen_sampling(self._settings, chat)),
            "max_tokens": max_answer_tokens(self._settings, chat),
            # What sums up is the window's own: the engine says that there is no room.
            "overflow": Overflow.STOP if chat.overflow is Overflow.SUM_UP else chat.overflow,
            "max_context_tokens": context_cap(self._settings, chat),
        }
