"""The requests of one chat: its messages as the model reads them, its shelf, tools and limits. GUI thread."""

import uuid
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from app.bridge.chat_limits import ChatLimits
from app.bridge.chat_shelf import ChatShelf
from app.bridge.chat_tools import ChatTools, definitions
from app.bridge.engines import ChatEngine
from app.chats.attachment import in_words
from app.chats.chat import Chat
from app.protocol.answer_format import NO_CHAT_PARAMS, ChatParams
from app.protocol.media import Media, Senses
from app.protocol.request import Message, Request, aside
from app.system.said import said
from app.tools.tool import Tool


class ChatRequests:
    def __init__(
        self, chat: Chat, engine: ChatEngine, limits: ChatLimits, tools: ChatTools, shelf: ChatShelf
    ) -> None:
        self._chat, self._engine, self._limits = chat, engine, limits
        self._tools, self._shelf = tools, shelf

    @property
    def senses(self) -> Senses | None:
        """What the model sees and hears. None: there is no model."""
        return self._engine.model.senses if self._engine.model else None

    @property
    def host(self) -> str:
        """Where the chat's model runs, loaded or not. Empty: here, or there is none."""
        model = self._engine.model
        return model.host if model else urlsplit(self._chat.model_path).netloc

    def as_sent(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """With words in the place of pictures and sounds that the model does not take."""
        senses = self.senses

        def is_taken(media: Media) -> bool:
            return senses is None or senses.takes(media.kind)

        # A long chat has thousands of messages, and hardly any has media.
        return tuple([in_words(one, is_taken) if one.media else one for one in messages])

    def make(
        self,
        messages: tuple[Message, ...],
        answer_start: str | tuple[int, ...],
        tools: Iterable[Tool] | None = None,
    ) -> Request:
        """With the tools that are offered now, if none are given."""
        offered = definitions([one.tool for one in self._tools.offered()] if tools is None else tools)
        request = Request(
            request_id=uuid.uuid4().hex,
            chat_id=self._chat.id,
            messages=self.as_sent(messages),
            **self._limits.of_request(),
            answer_start=answer_start,
            chat_params=ChatParams(tools=offered) if offered else NO_CHAT_PARAMS,
            is_saved=True,
            num_summed_up=self._chat.num_summed_up(),
        )
        return self._shelf.before(request)

    def too_large_before(self, num_needed: int) -> str:
        """Which text is too large, if what its project says takes all the room of the `num_needed` tokens."""
        text, project, limit = self._shelf.text, self._shelf.project, self._limits.room
        num_others = sum(len(message.content) for message in self._chat.messages(-1))
        num_tokens = num_needed * len(text) // max(len(text) + num_others, 1)
        if project is None or num_tokens < limit:
            return ""
        num_of_instructions = num_tokens * len(project.instructions) // len(text)
        return said(
            "This project begins each chat with about {tokens:,} tokens, {instructions:,} of them "
            "instructions, the others documents and facts, but {limit:,} fit. Shorten these, or load the "
            "model with a larger context.",
            tokens=num_tokens,
            limit=limit,
            instructions=num_of_instructions,
        )

    def aside(
        self, messages: tuple[Message, ...], question: Message, mark: str, max_tokens: int, **changes: Any
    ) -> Request:
        """Asks something behind these messages, in a fork of the chat. `mark` is the end of the fork's id."""
        chat_id = f"{self._chat.id}{mark}"
        return aside(self.make((*messages, question), ""), max_tokens, chat_id=chat_id, **changes)
