"""One tab: its chat and its open request. GUI thread.

Knows neither widgets nor the database: the workspace keeps what changes, the widgets show it.
"""

import uuid

from PySide6.QtCore import QObject, Signal

from app.bridge.active_engine import ActiveEngine
from app.bridge.parameters import sampling_params
from app.chats.chat import Chat, Turn, TurnState
from app.chats.text import valid_unicode
from app.engine.types import FinishReason, Output, Request, Role, Usage
from app.settings import Settings

_STATE_AFTER = {
    FinishReason.STOP: TurnState.DONE,
    FinishReason.LENGTH: TurnState.DONE,
    FinishReason.ABORT: TurnState.STOPPED,
    FinishReason.ERROR: TurnState.FAILED,
}


class ChatSession(QObject):
    changed = Signal()  # title, busy or turns changed (never per token)
    text_appended = Signal(str)  # new text at the end of the last turn
    finished = Signal(object)  # the Turn that just ended
    draft_changed = Signal()

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

    def send(self, text: str) -> None:
        """Appends the user's turn and an empty answer, and asks for it. Nothing if busy or without text."""
        if self.is_busy or not text.strip():
            return
        self._chat.turns.append(Turn(Role.USER, valid_unicode(text)))
        request = self._next_request()
        answerer = self._engine.model.name if self._engine.model else ""
        self._chat.turns.append(Turn(Role.ASSISTANT, "", TurnState.STREAMING, model=answerer))
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
            self._finish(answer, output.finish_reason, output.notice)

    def _finish(self, answer: Turn, reason: FinishReason, notice: str) -> None:
        answer.state = _STATE_AFTER[reason]
        answer.notice = notice
        answer.model = answer.model or (self._engine.model.name if self._engine.model else "")
        self._request_id = None
        self.changed.emit()
        self.finished.emit(answer)

    def _next_request(self) -> Request:
        return Request(
            request_id=uuid.uuid4().hex,
            chat_id=self._chat.id,
            messages=self._chat.messages(),
            sampling=sampling_params(self._settings, self._engine.model),
            max_tokens=self._settings.max_tokens,
        )
