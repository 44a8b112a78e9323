"""An open notebook: plain text that the model continues, without a chat template. GUI thread.

Its text is that of all turns one behind the other: what the user wrote, and what the model continued. So it
is saved, restored and inspected like a chat, and its slot holds the text: only what is new is computed.
"""

from collections.abc import Iterable
from dataclasses import replace

from app.bridge.chat_session import ChatSession
from app.chats.attachment import valid_unicode
from app.chats.chat import Turn
from app.chats.titles import title_from
from app.protocol.output import Output
from app.protocol.request import Message, Request, Role
from app.tools.tool import Tool

CONTINUATION_TOKENS = 256  # a base model rarely ends by itself


class NotebookSession(ChatSession):
    @property
    def text(self) -> str:
        return self.chat.text

    def write(self, text: str) -> None:
        """The user has edited the text. Turns before the edit stay as they are."""
        text = valid_unicode(text)
        if self.is_busy or not self.is_loaded or text == self.text:
            return
        turns = self.chat.turns
        kept, length = 0, 0
        while kept < len(turns) and text.startswith(turns[kept].text, length):
            length += len(turns[kept].text)
            kept += 1
        gone = turns[kept:]
        del turns[kept:]
        self.touched.emit((), tuple(turn.id for turn in gone))
        if text[length:]:
            self._add(text[length:])
        if self._settings.automatic_titles:
            self.chat.auto_title = title_from(text)
        self.changed.emit()

    def go_on_writing(self) -> None:
        """Asks for what comes next."""
        if not self.is_busy and self.is_loaded and self.text:
            self._answer()

    def reading_of(self, answer: Turn) -> Request | None:
        before = _joined(self.chat.turns[: self.chat.index_of(answer)])
        return self._continuation(before, answer.text, max_tokens=0) if before else None

    def reading_ahead(self) -> Request | None:
        """Nothing: the text is sent as it is, and much of it is there already."""
        return None

    def _add(self, text: str) -> None:
        last = self.chat.turns[-1] if self.chat.turns else None
        if last and last.role is Role.USER:
            last.text += text
            self.touched.emit((last,), ())
        else:
            self._append(Turn(Role.USER, text))

    def _on_ended(self, answer: Turn, last: Output) -> None:
        """A continuation that failed before its first token leaves only the reason, which is shown."""
        super()._on_ended(answer, last)
        if not answer.text:
            self.chat.turns.remove(answer)
            self.touched.emit((), (answer.id,))
            self.changed.emit()

    def _request(
        self,
        _messages: tuple[Message, ...],
        answer_start: str | tuple[int, ...],
        _tools: Iterable[Tool] | None = None,
    ) -> Request:
        """For the last turn, behind all others."""
        limit = self._limits.answer or CONTINUATION_TOKENS
        return self._continuation(_joined(self.chat.turns[:-1]), answer_start, limit)

    def _continuation(self, text: str, answer_start: str | tuple[int, ...], max_tokens: int) -> Request:
        request = super()._request((Message(Role.USER, text),), answer_start)
        return replace(request, messages=(), prompt=(text,), max_tokens=max_tokens)


def _joined(turns: Iterable[Turn]) -> str:
    return "".join(turn.text for turn in turns)
