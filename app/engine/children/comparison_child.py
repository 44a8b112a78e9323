"""Compares two models on a text in a process that can be killed: one that crashes costs nothing else.

The running engine is not touched. Where there is no room for both models, the logits of the first one wait in
a file that has no name and is gone with the process.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from app.engine.comparison import Floats, Place, places_of, windows_of
from app.protocol.comparison import MAX_COMPARED, Compare, Comparison
from app.protocol.errors import BadLogitsError, EngineError, InvalidRequestError, RequestError
from app.protocol.load import LoadParams
from app.protocol.wire import COMPARE, COMPARISON, WireError
from app.system import paths, worker
from app.system.said import said
from app.system.worker import Answer, Question

if TYPE_CHECKING:
    from app.engine.llama.backend import LlamaBackend


def answer(asked: Question) -> Answer:
    """Raises EngineError or RequestError."""
    question = COMPARE.unpacked(asked.parts)
    try:
        return ({}, *COMPARISON.packed(_compared(question, lambda done: asked.tell(progress=done))))
    except (MemoryError, OSError) as error:
        raise EngineError(
            said(
                "There is not enough memory, or no room on the disk for what the first model computed: "
                "{reason}. Free some, or compare a shorter text.",
                reason=getattr(error, "strerror", "") or type(error).__name__,
            )
        ) from error


def _compared(question: Compare, tell: Callable[[float], None]) -> Comparison:
    with contextlib.ExitStack() as stack, contextlib.ExitStack() as first:
        base = first.enter_context(_opened(question.base))
        text = _text_of(question, base)
        progress = _Progress(tell, 2 * len(text.compared))
        rows = progress.counted(_rows(base, text))
        if not question.are_together:
            folder = paths.private_dir(paths.cache_dir())
            rows = _kept(rows, stack.enter_context(tempfile.TemporaryFile(dir=folder)))
            first.close()
        other = stack.enter_context(_opened(question.other))
        places = list(places_of(rows, progress.counted(_rows(other, text)), text.compared))
        return _comparison(text, places, other)


def _opened(params: LoadParams) -> AbstractContextManager[LlamaBackend]:
    """With a context that only counts: the lens makes its own."""
    from app.engine.llama.loading import open_llama_backend

    return open_llama_backend(replace(params, n_ctx=1))


@dataclass(frozen=True, slots=True)
class _Text:
    """The tokens, from `begin` on those of the text, from `first` on those that are compared."""

    token_ids: list[int]
    begin: int
    first: int
    pieces: tuple[bytes, ...]
    n_ctx: int
    leading: list[int]  # what every window begins with

    @property
    def compared(self) -> list[int]:
        return self.token_ids[self.first :]


def _text_of(question: Compare, base: LlamaBackend) -> _Text:
    """Raises InvalidRequestError where nothing can be compared."""
    leading, token_ids = base.leading_tokens(), list(question.token_ids)
    begin = question.first if token_ids else len(leading)
    token_ids = token_ids or [*leading, *base.tokenize(question.text, parse_special=False)]
    first = max(begin, 1)
    if any(not 0 <= token_id < base.n_vocab for token_id in token_ids):  # those of media are none
        raise InvalidRequestError(said("Only text can be compared, and this chat has pictures or sounds."))
    if len(token_ids) <= first:
        raise InvalidRequestError(
            said("The text is too short: what comes next is only expected behind at least one token.")
        )
    if len(token_ids) > MAX_COMPARED:
        raise InvalidRequestError(
            said(
                "The text has {tokens:,} tokens. Compare a part of it, up to {most:,}.",
                tokens=len(token_ids),
                most=MAX_COMPARED,
            )
        )
    pieces = tuple(map(base.written_piece, token_ids[begin:]))
    return _Text(token_ids, begin, first, pieces, question.n_ctx, leading)


def _rows(model: LlamaBackend, text: _Text) -> Iterator[Floats]:
    """What it expects in the place of each token that is compared. Raises BadLogitsError."""
    assert model.lens
    for window in windows_of(len(text.token_ids), text.first, text.n_ctx):
        leading = text.leading if window.begin else []
        token_ids = [*leading, *text.token_ids[window.begin + len(leading) : window.end]]
        for rows in model.lens.logits(token_ids, window.first - window.begin):
            if not np.isfinite(rows.max(axis=1)).all():
                raise BadLogitsError(
                    said(
                        "The logits of {name} are NaN or infinite. The file may be damaged: download it "
                        "again, or choose another one.",
                        name=model.model.path.name,
                    )
                )
            yield rows


class _Progress:
    def __init__(self, tell: Callable[[float], None], num_rows: int) -> None:
        self._tell, self._num_rows, self._num_done = tell, num_rows, 0

    def counted(self, chunks: Iterator[Floats]) -> Iterator[Floats]:
        for rows in chunks:
            self._num_done += len(rows)
            self._tell(self._num_done / self._num_rows)
            yield rows


def _kept(chunks: Iterator[Floats], file: IO[bytes]) -> Iterator[Floats]:
    """All are computed now, and read later. Raises OSError."""
    shapes = []
    for rows in chunks:
        file.write(rows.tobytes())
        shapes.append(rows.shape)
    file.seek(0)
    read = (file.read(4 * math.prod(shape)) for shape in shapes)
    return (np.frombuffer(one, np.float32).reshape(shape) for one, shape in zip(read, shapes, strict=True))


def _comparison(text: _Text, places: list[Place], model: LlamaBackend) -> Comparison:
    kl, *pairs = zip(*places, strict=True)
    logprobs, ranks, greedy_ids = (np.array(pair).T for pair in pairs)
    base, other = (tuple(map(model.written_piece, ids.tolist())) for ids in greedy_ids)
    return Comparison(
        token_ids=np.array(text.token_ids[text.begin :], np.int32),
        pieces=text.pieces,
        num_given=text.first - text.begin,
        kl=np.array(kl),
        logprobs=logprobs,
        ranks=ranks,
        greedy_ids=greedy_ids,
        greedy_pieces=(base, other),
        n_ctx=text.n_ctx,
        control_ids=frozenset(token for token in greedy_ids.ravel().tolist() if not model.token_piece(token)),
    )


if __name__ == "__main__":
    worker.stand_back()
    worker.limit()
    with contextlib.suppress(OSError):  # Linux: when memory runs out, take this process
        Path("/proc/self/oom_score_adj").write_text("1000")
    worker.Parent().serve(answer, EngineError, RequestError, WireError)
