"""Has the model write a chat's title, while it is idle. GUI thread. Off by default."""

import re

from PySide6.QtCore import QObject

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.chats.chat import Turn, TurnState
from app.chats.titles import title_from
from app.protocol.request import TITLE, Message, Request, Role
from app.services.idle_writer import IdleWriter
from app.settings.settings import Settings

MAX_TOKENS = 32
MAX_READ_CHARS = 20_000
WISH = (
    "Write a title for this chat: at most six words, in its language. Answer with the title and nothing else."
)
_PREAMBLE = re.compile(r"^\s*(?:title|titel|titre|título|标题)\s*[:：]\s*", re.IGNORECASE)
_QUOTES = "\"'“”„«»「」『』《》*# "


class TitleWriter(IdleWriter):
    def __init__(
        self, engine: Engines, workspace: Workspace, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(engine, workspace, parent)
        self._settings = settings

    def _is_wanted(self, session: ChatSession, answer: Turn) -> bool:
        """The first answer shows what the chat is about."""
        chat, is_done = session.chat, answer.state is TurnState.DONE
        is_first = len(chat.turns) == 2 and not chat.is_notebook and is_done
        return is_first and not chat.title and self._settings.model_titles

    def _request_for(self, session: ChatSession) -> Request | None:
        num_chars = sum(len(message.content) for message in session.chat.messages(2))
        if session.chat.title or num_chars > MAX_READ_CHARS:  # it is not worth a prefill of a long chat
            return None
        return session.requests.aside(
            *(session.chat.messages(2), Message(Role.USER, WISH), TITLE, MAX_TOKENS),
            template_variables='{"enable_thinking": false}',
        )

    def _take(self, session: ChatSession, text: str) -> None:
        if title := written_title(text):
            session.suggest_title(title)


def written_title(text: str) -> str:
    """The model's title without quotes and the like; "" if nothing else is left."""
    line = next((line for line in text.splitlines() if line.strip(_QUOTES)), "")
    return title_from(_PREAMBLE.sub("", line.strip(_QUOTES)).strip(_QUOTES)) if line else ""
