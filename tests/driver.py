"""Drives an engine by hand, step by step: no threads, no sleeps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unittest import mock

from app.engine.batch import Batch, BatchSpan
from app.engine.batching.draft_planner import DraftPlanner
from app.engine.engine import Engine
from app.protocol.answer_format import AnswerFormat
from app.protocol.output import FinishReason, Usage
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams

if TYPE_CHECKING:
    from app.engine.backend import Backend

GREEDY = SamplingParams(temperature=0.0)
_ids = itertools.count()


@dataclass
class Answer:
    text: str = ""
    finish_reason: FinishReason | None = None
    notice: str = ""
    usage: Usage = field(default_factory=Usage)
    found_no_room: bool = False
    token_ids: tuple[int, ...] = ()
    stopping_word: str = ""
    format: AnswerFormat = field(default_factory=AnswerFormat)


@dataclass
class Run:
    """Everything an engine reported until it had nothing left to do."""

    reports: list[StepReport] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)  # by request id

    def is_open(self, request_id: str) -> bool:
        return request_id not in self.answers or self.answers[request_id].finish_reason is None

    def add(self, report: StepReport) -> None:
        self.reports.append(report)
        for output in report.outputs:
            answer = self.answers.setdefault(output.request_id, Answer())
            assert answer.finish_reason is None, "an output came after the last one"
            answer.text += output.text
            answer.token_ids += output.token_ids
            answer.usage = output.usage
            answer.finish_reason, answer.notice = output.finish_reason, output.notice
            answer.found_no_room = output.found_no_room
            answer.stopping_word = output.stopping_word
            answer.format = output.format or answer.format


def request(
    text: str, chat: str | None = None, *, history: tuple[Message, ...] = (), **options: object
) -> Request:
    """A greedy question. Each is a chat of its own unless `chat` says otherwise."""
    name = f"r{next(_ids)}"
    values: dict[str, object] = {"sampling": GREEDY, "max_tokens": 16} | options
    messages = (*history, Message(Role.USER, text))
    return Request(name, chat or f"chat-{name}", messages, **values)  # type: ignore[arg-type]


def run(engine: Engine, *requests: Request, max_steps: int = 10_000) -> Run:
    """Step until nothing is left to do."""
    for one in requests:
        engine.add_request(one)
    result = Run()
    while engine.has_work:
        assert len(result.reports) < max_steps, "the engine makes no progress"
        result.add(engine.step())
    return result


def ask(engine: Engine, one: Request) -> Answer:
    return run(engine, one).answers[one.request_id]


@contextmanager
def all_guesses_checked() -> Iterator[None]:
    """As many as fit into each step: in tests, step times are noise, and so is whether drafting pays."""
    with mock.patch.object(DraftPlanner, "_best_number", lambda _drafting, ranked, *_: (len(ranked),) * 2):
        yield


def next_turn(first: Request, answer: str, text: str) -> Request:
    """The same chat, one turn later."""
    return request(text, first.chat_id, history=(*first.messages, Message(Role.ASSISTANT, answer)))


def rows(backend: Backend, *spans: tuple[int, int, list[int]]) -> Batch:
    """A batch written by hand: (seq_id, first position, token ids) each, with logits for the last row."""
    batch = Batch(backend.model.n_batch)
    for seq_id, first_pos, token_ids in spans:
        at = slice(batch.num_rows, batch.num_rows + len(token_ids))
        for row, token_id in enumerate(token_ids, at.start):
            batch.token_ids[row], batch.positions[row] = token_id, first_pos + row - at.start
            batch.seq_ids[row], batch.wants_logits[row] = seq_id, row == at.stop - 1
        span = BatchSpan(None, seq_id, at.start, first_pos, len(token_ids), True, True)  # type: ignore[arg-type]
        batch.spans.append(span)
        batch.num_rows = at.stop
    return batch
