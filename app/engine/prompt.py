"""From a chat to prompt tokens, so that nothing a user types becomes a control token.

Any thread. Long runs of one kind of character recurse deeply in llama.cpp's tokenizer, so `EngineLoop`
calls this on a thread with a large stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from app.engine.chat_template import CHATML, ChatTemplate, LimitedChatTemplate
from app.engine.errors import InvalidRequestError, PromptTooLongError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.engine.backend import Backend
    from app.engine.types import Message, Request

# Two code points that Unicode reserves for a program's own use and that no text may contain.
MARK_BEGIN, MARK_END = "\ufdd0", "\ufdd1"
MARK = re.compile(f"{MARK_BEGIN}([0-9]+){MARK_END}")
MAX_CHARS_PER_TOKEN = 64  # of a context's tokens; anything longer is refused before it is tokenised
# 500,000 characters of one kind in a row pass in a stack of 256 MiB (measured).
LONG_RUN = re.compile(r"\w{200001}|\s{200001}|[^\w\s]{200001}")


class Template(Protocol):
    def render(self, messages: Sequence[Message]) -> str: ...
    def close(self) -> None: ...


class PromptBuilder:
    """Renders the chat template and tokenises the result.

    Where a message spells out a control token, the template sees a mark in its place. The text around the
    marks is tokenised with control tokens, what they stand for without.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._template = _template_of(backend)
        texts = sorted(backend.control_texts(), key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, texts))) if texts else None

    def build(self, request: Request) -> list[int]:
        """Prompt tokens of `request`. Raises RequestError."""
        self._check_size(request)
        spelled_out: list[str] = []
        messages = [
            replace(message, content=self._mark(message.content, spelled_out)) for message in request.messages
        ]
        text = self._template.render(messages)
        tokens = [
            token
            for piece, parse_special in _split_at_marks(text, spelled_out)
            for token in self._backend.tokenize(piece, parse_special=parse_special)
        ]
        leading = self._backend.leading_tokens()
        return tokens if tokens[: len(leading)] == leading else leading + tokens

    def close(self) -> None:
        self._template.close()

    def _check_size(self, request: Request) -> None:
        model = self._backend.model
        num_chars = sum(len(message.content) for message in request.messages)
        if num_chars > model.max_sequence_tokens * MAX_CHARS_PER_TOKEN:
            raise PromptTooLongError(num_chars // MAX_CHARS_PER_TOKEN, model)
        if any(LONG_RUN.search(message.content) for message in request.messages):
            raise InvalidRequestError(
                "The text has over 200,000 letters in a row without a space. Break it up and send again."
            )

    def _mark(self, content: str, spelled_out: list[str]) -> str:
        """`content` with a mark for each control token written out in it, which goes to `spelled_out`."""
        content = content.replace(MARK_BEGIN, "\ufffd").replace(MARK_END, "\ufffd")
        if self._control is None:
            return content

        def mark(match: re.Match[str]) -> str:
            spelled_out.append(match[0])
            return f"{MARK_BEGIN}{len(spelled_out) - 1}{MARK_END}"

        return self._control.sub(mark, content)


def _template_of(backend: Backend) -> Template:
    if backend.chat_template is None:
        return ChatTemplate(CHATML, backend.bos_text, backend.eos_text)
    return LimitedChatTemplate(backend.chat_template, backend.bos_text, backend.eos_text)


def _split_at_marks(text: str, spelled_out: list[str]) -> Iterator[tuple[str, bool]]:
    """Pieces of `text` in order, each with whether control tokens count in it."""
    for index, piece in enumerate(MARK.split(text)):
        if index % 2:
            yield spelled_out[int(piece)], False
        elif piece:
            yield piece, True
