"""From a chat to prompt tokens, so that nothing a user types becomes a control token.

Any thread. Long runs of one kind of character recurse deeply in llama.cpp's tokenizer, so `EngineLoop`
calls this on a thread with a large stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

from app.engine import overflow
from app.engine.chat_template import CHATML, ChatTemplate, LimitedChatTemplate
from app.engine.errors import ChatTemplateError, InvalidRequestError
from app.engine.types import Overflow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.engine.backend import Backend
    from app.engine.errors import RequestError
    from app.engine.types import Message, Request

# Two code points that Unicode reserves for a program's own use and that no text may contain.
MARK_BEGIN, MARK_END = "\ufdd0", "\ufdd1"
MARK = re.compile(f"{MARK_BEGIN}([0-9]+){MARK_END}")
MAX_CHARS_PER_TOKEN = 64  # of a context's tokens; anything longer is refused before it is tokenised
# 500,000 characters of one kind in a row pass in a stack of 256 MiB (measured). A run is looked at from its
# beginning only: from each of its characters, one that is just short enough would take a minute.
LONG_RUN = re.compile(r"(?<!\w)\w{200001}|(?<!\s)\s{200001}|(?<![^\w\s])[^\w\s]{200001}")


class Template(Protocol):
    def render(self, messages: Sequence[Message]) -> str: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is shown of a chat: `messages`, all or those that its overflow choice left."""

    token_ids: tuple[int, ...]
    messages: tuple[Message, ...] = ()
    num_dropped_messages: int = 0
    notice: str = ""  # one sentence about what was left out


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

    def build(self, request: Request, num_generated_tokens: int = 0) -> Prompt:
        """The prompt of `request`, which leaves room for an answer. Raises RequestError.

        With `num_generated_tokens` the prompt for an answer that has reached the limit: more of the chat is
        left out, so that prompt, these tokens and at least one more fit. PromptTooLongError: nothing more can
        be. What is shown depends on the arguments alone, so a prompt can be built again at any time.
        """
        if request.sampling:
            self._backend.check_sampling(request.sampling)  # a JSON schema takes time that the engine has not
        limit = overflow.context_limit(request, self._backend.model)
        room = limit - num_generated_tokens
        rest_of_answer = (request.max_tokens or limit) - num_generated_tokens
        reserve = max(1, min(rest_of_answer, limit // 4))
        tokenise = cache(self._tokenise)

        def measure(messages: tuple[Message, ...]) -> int:
            return limit + 1 if self._refusal(messages, request) else len(tokenise(messages))

        shown = self._shown(request, measure, room - reserve)
        if refusal := self._refusal(shown, request):
            raise refusal
        token_ids = tokenise(shown)
        if len(token_ids) >= room:
            raise overflow.too_long(len(token_ids) + num_generated_tokens, request, self._backend.model)
        num_dropped = len(request.messages) - len(shown)
        notice = overflow.left_out(request.messages, shown, request.overflow)
        return Prompt(token_ids, shown, num_dropped, notice)

    def close(self) -> None:
        self._template.close()

    def _shown(self, request: Request, measure: overflow.Measure, max_tokens: int) -> tuple[Message, ...]:
        """What is shown of the chat, in at most `max_tokens` if that can be."""
        match request.overflow:
            case Overflow.STOP:
                return request.messages
            case Overflow.ROLLING_WINDOW:
                return overflow.rolling_window(request.messages, measure, max_tokens)
            case Overflow.TRUNCATE_MIDDLE:
                return overflow.truncate_middle(
                    request.messages,
                    measure,
                    lambda text: len(self._backend.tokenize(text, parse_special=False)),
                    max_tokens,
                    # Of the limit, not of `max_tokens`: the cut must not move while an answer grows.
                    overflow.context_limit(request, self._backend.model) // 3,
                )

    def _tokenise(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        spelled_out: list[str] = []
        marked = [replace(message, content=self._mark(message.content, spelled_out)) for message in messages]
        rendered = self._template.render(marked)
        self._check_rendered(rendered)
        tokens = [
            token
            for piece, parse_special in _split_at_marks(rendered, spelled_out)
            for token in self._backend.tokenize(piece, parse_special=parse_special)
        ]
        leading = self._backend.leading_tokens()
        return tuple(tokens if tokens[: len(leading)] == leading else leading + tokens)

    def _check_rendered(self, text: str) -> None:
        """A template can write anything, whatever it was given."""
        num_chars = 2 * self._backend.model.max_sequence_tokens * MAX_CHARS_PER_TOKEN
        if len(text) > num_chars or LONG_RUN.search(text):
            raise ChatTemplateError("The model's chat template writes far more text than the context holds.")

    def _refusal(self, messages: tuple[Message, ...], request: Request) -> RequestError | None:
        """Why these messages must not even be tokenised."""
        limit = overflow.context_limit(request, self._backend.model)
        num_chars = sum(len(message.content) for message in messages)
        if num_chars > limit * MAX_CHARS_PER_TOKEN:
            return overflow.too_long(num_chars // MAX_CHARS_PER_TOKEN, request, self._backend.model)
        if any(LONG_RUN.search(message.content) for message in messages):
            return InvalidRequestError(
                "The text has over 200,000 letters in a row without a space. Break it up and send again."
            )
        return None

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
