"""The engine of a model that turns texts into vectors. Commands come into a mailbox, reports come out.

A text is computed as a whole, with as many others as fit into one batch, in the order in which they came.
Nothing is kept from one batch to the next.
"""

from __future__ import annotations

import logging
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from queue import Empty
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np

from app.engine.loop import PromptThread
from app.engine.prompts.prompt_builder import MAX_CHARS, MAX_CHARS_PER_TOKEN, PromptBuilder
from app.engine.running import CommandLoop
from app.protocol.commands import AbortAll, Command, Submit, ends
from app.protocol.errors import DecodeInterruptedError, PromptTooLongError
from app.protocol.output import Embedded, FinishReason, Output, Usage
from app.protocol.report import CellUsage, SlotSnapshot, SlotState, Span, StepReport
from app.protocol.request import Request
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.llama.embedder import Vectors
    from app.protocol.model import ModelInfo

log = logging.getLogger(__name__)
T = TypeVar("T")

NO_NUMBERS = "The model computed no usable vector for this text: its file may be damaged."
NO_ANSWERS = "This model makes vectors of texts. It writes no answers: ask a chat model."
PLACES = re.compile("({query}|{document})")  # in a reranker's template


class Embedder(Protocol):
    """`LlamaEmbedder`; the tests have another. Its tokenizer is any thread's, `embed` the engine thread's."""

    model: ModelInfo
    rank_template: str  # of a query and a document; "": they are joined

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]: ...
    def tokenize_whole(self, text: str) -> list[int]: ...
    def joined(self, query: Sequence[int], document: Sequence[int]) -> list[int]: ...
    def interrupt(self) -> None: ...
    def resume(self) -> None: ...
    def embed(self, texts: Sequence[Sequence[int]]) -> list[Vectors]: ...


class TextTokenizer(PromptBuilder):
    """Makes the tokens that an embedder is given. The prompt thread."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(cast("Backend", embedder))  # of which it needs the tokenizer alone
        self._embedder = embedder

    def whole(self, pieces: Sequence[str | int]) -> list[int]:
        """Of a text; what begins and ends one goes around its first piece. Raises InvalidRequestError."""
        self._check(pieces)
        tokens = self.tokenize(*pieces)
        if isinstance(pieces[0], str):
            tokens = [*self._embedder.tokenize_whole(pieces[0]), *self.tokenize(*pieces[1:])]
        return self._fitting(tokens)

    def beginning(self, pieces: Sequence[str | int]) -> list[int]:
        """Of a text as far as it fits, with what ends one. Raises InvalidRequestError."""
        text, most = str(pieces[0]), self._embedder.model.n_batch
        text = text[: min(most * MAX_CHARS_PER_TOKEN, MAX_CHARS)]
        self.tokenize(text)
        tokens = self._embedder.tokenize_whole(text)
        ends = self._embedder.tokenize_whole("")[-1:]
        if len(tokens) <= most or tokens[-1:] != ends:
            return tokens[:most]
        return [*tokens[: most - 1], *ends]

    def pair(self, query: str, document: str) -> list[int]:
        """Of a query and a document. Raises InvalidRequestError."""
        self._check((query, document))
        if not self._embedder.rank_template:
            texts = [self.tokenize(text, parse_special=False) for text in (query, document)]
            return self._fitting(self._embedder.joined(*texts))
        texts_at = {"{query}": query, "{document}": document}
        parts = PLACES.split(self._embedder.rank_template)
        if all(map(self._is_plain, (query, document))):
            return self._fitting(self.tokenize("".join(texts_at.get(part, part) for part in parts)))
        tokens: list[int] = []
        for part in parts:  # a control token spelled out is text, though words at its edges may be cut
            tokens += self.tokenize(texts_at.get(part, part), parse_special=part not in texts_at)
        return self._fitting(tokens)

    def _is_plain(self, text: str) -> bool:
        return self.tokenize(text) == self.tokenize(text, parse_special=False)

    def _check(self, pieces: Sequence[str | int]) -> None:
        """What cannot fit is not even tokenized."""
        num_chars = sum(len(piece) for piece in pieces if isinstance(piece, str))
        if num_chars > self._embedder.model.n_batch * MAX_CHARS_PER_TOKEN:
            raise self._text_too_long(num_chars // MAX_CHARS_PER_TOKEN)

    def _fitting(self, tokens: list[int]) -> list[int]:
        if len(tokens) > self._embedder.model.n_batch:
            raise self._text_too_long(len(tokens))
        return tokens

    def _text_too_long(self, num_tokens: int) -> PromptTooLongError:
        return PromptTooLongError(
            f"The input is too large: it has at least {num_tokens:,} tokens, and this model takes up to "
            f"{self._embedder.model.n_batch:,}. Send it in parts.",
            num_tokens,
        )


class EmbeddingLoop(CommandLoop[Command]):
    """Runs an embedder until it is stopped. A `RunningEngine`."""

    def __init__(
        self,
        embedder: Embedder,
        on_reports_ready: Callable[[], None],
        turn: Callable[[], AbstractContextManager[bool | None]] = nullcontext,
    ) -> None:
        """Each step is computed inside of a `turn`, see `StepTurns`."""
        super().__init__(embedder.interrupt, on_reports_ready)
        self._embedder, self._turn = embedder, turn
        self._prompt_thread = PromptThread(TextTokenizer(embedder))
        slots = (SlotSnapshot(seq_id, SlotState.EMPTY) for seq_id in range(embedder.model.n_seq_max))
        self._slots = tuple(slots)
        self._waiting: deque[tuple[Request, float]] = deque()  # and since when; the engine thread only
        self._outputs: list[Output] = []
        self._step = 0

    # Any thread.

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """`work` gets a `TextTokenizer`."""
        return self._prompt_thread.use(work)

    # The engine thread only.

    def run(self) -> None:
        self._prompt_thread.start()
        try:
            while not self._stopping:
                self._receive()
                if self._waiting or self._outputs:
                    with self._turn():
                        report = self._embed_next()
                    self.put_report(report)
            self._end_all(FinishReason.ABORT, "")
        except Exception as error:  # the root of this thread: all requests must end
            reason = said("The engine stopped: {reason} Load the model again.", reason=str(error))
            self._end_all(FinishReason.ERROR, reason)
            raise
        finally:
            self._prompt_thread.stop()

    def _receive(self) -> None:
        """Handle all commands; block for one only when there is nothing to compute."""
        if not self._waiting:
            self._handle(self._mailbox.get())
        while True:
            try:
                self._handle(self._mailbox.get_nowait())
            except Empty:
                return

    def _handle(self, command: Command | None) -> None:
        if isinstance(command, Submit):
            self._add(command.request)
        elif command is not None:
            for waiting in [one for one in self._waiting if ends(command, one[0])]:
                self._waiting.remove(waiting)
                self._end(waiting[0], FinishReason.ABORT, "")
            if isinstance(command, AbortAll):
                self._embedder.resume()

    def _add(self, request: Request) -> None:
        if request.embeds:
            self._waiting.append((request, time.perf_counter()))
            return
        self._end(request, FinishReason.ERROR, NO_ANSWERS, is_refused=True)

    def _embed_next(self) -> StepReport:
        """One batch, and the outputs that have come up."""
        batch, started_at = list(self._next_batch()), time.perf_counter()
        texts = [cast("tuple[int, ...]", request.prompt) for request, _since in batch]
        try:
            every = self._embedder.embed(texts) if texts else []
        except DecodeInterruptedError:
            return self._report((), started_at)
        took_s = time.perf_counter() - started_at
        for (request, since), vectors in zip(batch, every, strict=True):
            self._waiting.popleft()
            num_tokens, queue_s = len(request.prompt), started_at - since
            usage = Usage(
                num_prompt_tokens=num_tokens, num_computed_tokens=num_tokens, queue_s=queue_s, prompt_s=took_s
            )
            if not np.isfinite(vectors).all():
                self._end(request, FinishReason.ERROR, NO_NUMBERS, is_refused=True)
                continue
            self._outputs.append(
                Embedded(
                    request.request_id, request.chat_id, "", FinishReason.STOP, "", usage, vectors=vectors
                )
            )
        return self._report(
            tuple(_span(at, request) for at, (request, _since) in enumerate(batch)), started_at
        )

    def _next_batch(self) -> Iterator[tuple[Request, float]]:
        num_rows = num_texts = 0
        for waiting in self._waiting:
            num_rows, num_texts = num_rows + len(waiting[0].prompt), num_texts + 1
            if num_rows > self._embedder.model.n_batch or num_texts > self._embedder.model.n_seq_max:
                return
            yield waiting

    def _end(self, request: Request, reason: FinishReason, notice: str, *, is_refused: bool = False) -> None:
        self._outputs.append(
            Output(request.request_id, request.chat_id, "", reason, notice, is_refused=is_refused)
        )

    def _end_all(self, reason: FinishReason, notice: str) -> None:
        while not self._mailbox.empty():
            self._handle(self._mailbox.get())
        for request, _since in self._waiting:
            self._end(request, reason, notice)
        self._waiting.clear()
        self.put_report(self._report((), time.perf_counter()))

    def _report(self, spans: tuple[Span, ...], started_at: float) -> StepReport:
        self._step += 1
        outputs, self._outputs = tuple(self._outputs), []
        decode_ms = (time.perf_counter() - started_at) * 1000
        return StepReport(
            self._step, outputs, spans, self._slots, CellUsage(0), decode_ms=decode_ms, started_at=started_at
        )


def _span(seq_id: int, request: Request) -> Span:
    num_rows = len(request.prompt)
    return Span(seq_id, request.chat_id, request.request_id, 0, num_rows, False, 0, 0, is_prefill=True)
