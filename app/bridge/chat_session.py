"""One tab: its chat and its open request. GUI thread.

Knows neither widgets nor the database: the workspace keeps what changes, the widgets show it.
"""

import uuid
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.bridge.active_engine import ActiveEngine
from app.bridge.parameters import context_cap, sampling_params
from app.chats.chat import Chat, Turn, TurnState
from app.chats.text import valid_unicode
from app.engine.types import FinishReason, Message, Output, Overflow, Request, Role, Usage
from app.settings import Settings

_STATE_AFTER = {
    FinishReason.STOP: TurnState.DONE,
    FinishReason.LENGTH: TurnState.DONE,
    FinishReason.ABORT: TurnState.STOPPED,
    FinishReason.ERROR: TurnState.FAILED,
}
GO_ON = "Continue."


class ChatSession(QObject):
    changed = Signal()  # title, busy or turns changed (never per token)
    text_appended = Signal(str)  # new text at the end of the last turn
    finished = Signal(object)  # the Turn that just ended
    draft_changed = Signal()
    limits_changed = Signal()  # how long the chat may get, and what becomes of it then

    def __init__(
        self,
        chat: Chat,
        engine: ActiveEngine,
        settings: Settings,
        draft: str = "",
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat = chat
        self._engine = engine
        self._settings = settings
        self._draft = draft
        self._request_id: str | None = None

    @property
    def chat(self) -> Chat:
        return self._chat

    @property
    def is_busy(self) -> bool:
        return self._request_id is not None

    @property
    def request_id(self) -> str | None:
        """The answer being written, if one is."""
        return self._request_id

    @property
    def draft(self) -> str:
        """What stands unsent in the composer; kept with the chat."""
        return self._draft

    @draft.setter
    def draft(self, text: str) -> None:
        text = valid_unicode(text)
        if text != self._draft:
            self._draft = text
            self.draft_changed.emit()

    @property
    def is_blank(self) -> bool:
        """Nothing in it that anybody would miss."""
        return not (self._chat.turns or self._chat.title or self._draft.strip())

    def context_limit(self, n_ctx: int) -> int:
        """How many tokens this chat can have, where the context has room for `n_ctx`."""
        return min(n_ctx, context_cap(self._settings, self._chat) or n_ctx)

    def set_limits(self, overflow: Overflow, max_context_tokens: int) -> None:
        """From the next message on. `max_context_tokens` 0 means as the settings say."""
        self._chat.overflow, self._chat.max_context_tokens = overflow, max_context_tokens
        self.limits_changed.emit()

    def send(self, text: str) -> None:
        """Appends the user's turn and an empty answer, and asks for it. Nothing if busy or without text."""
        if self.is_busy or not text.strip():
            return
        self._chat.turns += [Turn(Role.USER, valid_unicode(text)), Turn(Role.ASSISTANT, "")]
        self._ask()

    def keep_going(self) -> None:
        """The chat was full: leave out its oldest turns from now on, and finish what found no room."""
        if self.is_busy or not self._chat.turns:
            return
        self.set_limits(Overflow.ROLLING_WINDOW, self._chat.max_context_tokens)
        if self._chat.turns[-1].text:
            self.send(GO_ON)
        else:
            self._ask()

    def go_on(self, answer_start: str | tuple[int, ...]) -> None:
        """Asks for the rest of the last answer. `answer_start` is what it has so far: text, or its tokens."""
        if not self.is_busy:
            self._ask(answer_start)

    def reading_of(self, answer: Turn) -> Request:
        """Has this answer computed again, with all that stands before it. Makes no new token."""
        before = self._chat.messages(self._chat.index_of(answer))
        return replace(self._request(before, answer.text), max_tokens=0)

    def _ask(self, answer_start: str | tuple[int, ...] = ()) -> None:
        """For the last turn, an answer that has no text but that of its start."""
        answer = self._chat.turns[-1]
        answer.state, answer.notice, answer.overflowed = TurnState.STREAMING, "", False
        answer.model = self._engine.model.name if self._engine.model else ""
        request = self._request(self._chat.messages(len(self._chat.turns) - 1), answer_start)
        self._request_id = request.request_id
        self.changed.emit()
        self._engine.submit(request)

    def stop(self) -> None:
        """The answer ends through the usual door, with what it has so far."""
        if self._request_id:
            self._engine.abort(self._request_id)

    def close(self) -> None:
        """Ends the answer here and now: nobody listens for its last output any more."""
        if self._request_id:
            self.apply(Output(self._request_id, self._chat.id, finish_reason=FinishReason.ABORT))
        self._engine.forget(self._chat.id)

    def apply(self, output: Output) -> None:
        """Takes what the engine made; outputs of earlier requests are ignored."""
        if output.request_id != self._request_id:
            return
        answer = self._chat.turns[-1]
        if output.usage != Usage():  # the last words about a request whose engine is gone have no figures
            answer.usage = output.usage
        if output.text:
            answer.text += output.text
            self.text_appended.emit(output.text)
        if output.finish_reason:
            self._finish(answer, output.finish_reason, output)

    def _finish(self, answer: Turn, reason: FinishReason, last: Output) -> None:
        answer.state = _STATE_AFTER[reason]
        answer.notice = last.notice
        answer.overflowed = self._chat.overflow is Overflow.STOP and last.found_no_room
        answer.model = answer.model or (self._engine.model.name if self._engine.model else "")
        self._request_id = None
        self.changed.emit()
        self.finished.emit(answer)

    def _request(self, messages: tuple[Message, ...], answer_start: str | tuple[int, ...]) -> Request:
        return Request(
            request_id=uuid.uuid4().hex,
            chat_id=self._chat.id,
            messages=messages,
            sampling=sampling_params(self._settings, self._engine.model),
            max_tokens=self._settings.max_tokens,
            overflow=self._chat.overflow,
            max_context_tokens=context_cap(self._settings, self._chat),
            answer_start=answer_start,
        )
