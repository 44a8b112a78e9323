"""Drives an engine step by step, and compares answers as far as they are unambiguous.

The same tokens in other cells, or in another batch, give sums that differ in their last digits. So where two
tokens are nearly tied the model may choose either, and what follows a tie is not compared.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from app.engine.backend import Backend
from app.engine.engine import Engine
from app.engine.llama.native_library import native_objects
from app.protocol.errors import EngineError
from app.protocol.output import FinishReason, Output, SampledToken, Usage
from app.protocol.report import StepReport
from app.protocol.request import Request
from app.protocol.sampling import SamplingParams
from app.system.said import said

# Difference of two log probabilities. Measured ones are below 0.02; experts may change places at more.
TIE = 0.5
TURN = 11  # tokens further on in the text
NUM_LIKELIEST = 10  # requested for each token
GREEDY = SamplingParams(
    temperature=0.0, ignore_eos=True
)  # so that an answer has exactly the requested length
MAX_IDLE_STEPS = 1000  # without a row, before the engine is said to hang

# Any text: its tokens, turned and cut, are all prompts. It does not repeat itself, for models copy that.
TEXT = (
    "A loom holds many threads at once. Each thread keeps its own place, and none is woven into its "
    "neighbour's row. In 1804 Jacquard let cards with holes choose which of 400 threads go up, row by row; "
    "the cloth came out the same on every machine. When one thread breaks, the weaver ties it and goes on, "
    "while the other threads wait no longer than a blink. Count: one, two, three, five, eight. Questions? "
    "Ask the red one first, then blue; never both. (Old looms hum, new ones whistle.) Tomorrow we start "
    "with green and finish by noon."
)


class CheckFailedError(Exception):
    """The check failed."""


class CannotCheckError(Exception):
    """The check is not possible with this model or context."""


class CancelledError(Exception):
    """The test was cancelled."""


@dataclass
class Answer:
    request: Request
    tokens: list[SampledToken] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)
    seq_id: int = -1
    num_steps: int = 0

    @property
    def token_ids(self) -> tuple[int, ...]:
        return tuple(token.chosen.token_id for token in self.tokens)

    def take(self, output: Output) -> None:
        if output.finish_reason is FinishReason.ERROR:
            raise CheckFailedError(said("an answer ended with an error: {reason}", reason=output.notice))
        self.tokens += output.logprobs
        self.usage, self.finish_reason = output.usage, output.finish_reason


class Bench:
    """Owns the engine, which is recreated after a failure: its books may be wrong then."""

    def __init__(
        self,
        backend: Backend,
        make_engine: Callable[[Backend], Engine],
        is_cancelled: Callable[[], bool],
        on_answer: Callable[[], None],
    ) -> None:
        self.backend = backend
        self.model = backend.model
        self._make_engine = make_engine
        self._is_cancelled = is_cancelled
        self._on_answer = on_answer
        self._names = itertools.count()
        self._tokens = backend.tokenize(TEXT, parse_special=False)
        self.engine = make_engine(backend)
        self.native_objects = living_native_objects()
        self.reports: list[StepReport] = []  # of the running line

    def renew(self) -> None:
        """Start with free cells and a new engine."""
        self.close()
        self.engine = self._make_engine(self.backend)
        self.native_objects = living_native_objects()

    def close(self) -> None:
        """End what runs and free all cells."""
        try:
            self.engine.close()
        except (EngineError, AssertionError):  # its books may be wrong after a failure
            self.engine.prompts.close()
            self.engine.slots.hibernated.close()
        for seq_id in range(self.model.n_seq_max):
            self.backend.truncate(seq_id, 0)

    # Requests.

    def words(self, length: int, turn: int) -> tuple[int, ...]:
        """`length` tokens of text; others for each `turn`."""
        start = turn * TURN % len(self._tokens)
        return tuple(itertools.islice(itertools.cycle(self._tokens), start, start + length))

    def prompt(self, length: int, turn: int = 0) -> tuple[int, ...]:
        return (*self.backend.leading_tokens(), *self.words(length, turn))[:length]

    def request(
        self, prompt: tuple[int, ...], max_tokens: int | None, chat: str = "", *, keeps: bool = False
    ) -> Request:
        name = f"selftest-{next(self._names)}"
        return Request(
            name,
            chat or name,
            prompt=prompt,
            sampling=GREEDY,
            max_tokens=max_tokens,
            keep_cells=keeps,
            num_logprobs=NUM_LIKELIEST,
        )

    def again(self, request: Request) -> Request:
        """The same request in a chat of its own, which ends with it."""
        name = f"selftest-{next(self._names)}"
        return replace(request, request_id=name, chat_id=name, keep_cells=False)

    # Answers.

    def ask(self, request: Request) -> Answer:
        (answer,) = self.ask_all(request)
        return answer

    def ask_all(self, *requests: Request) -> list[Answer]:
        """Ask at once, and step until all have ended."""
        answers = self.start(*requests)
        self.step_until(answers, lambda: False)
        return answers

    def start(self, *requests: Request) -> list[Answer]:
        limit = self.model.max_sequence_tokens
        for request in requests:
            if len(request.prompt) + (request.max_tokens or 0) > limit:
                raise CannotCheckError(
                    said("a chat can have only {limit:,} tokens, too few for this check", limit=limit)
                )
            self.engine.add_request(request)
        return [Answer(request) for request in requests]

    def step_until(self, answers: list[Answer], is_enough: Callable[[], bool]) -> None:
        """Step until `is_enough`, or until all `answers` have ended."""
        num_idle = 0
        while not is_enough() and any(answer.finish_reason is None for answer in answers):
            if self._is_cancelled():
                raise CancelledError
            report = self._step(answers)
            num_idle = 0 if report.spans else num_idle + 1
            if num_idle > MAX_IDLE_STEPS or not self.engine.has_work:
                self._check_all_ended(answers)

    def _step(self, answers: list[Answer]) -> StepReport:
        by_name = {answer.request.request_id: answer for answer in answers}
        report = self.engine.step()
        self.reports.append(report)
        for span in report.spans:
            if answer := by_name.get(span.request_id):
                answer.seq_id = span.seq_id
                answer.num_steps += 1
        for output in report.outputs:
            if answer := by_name.get(output.request_id):
                answer.take(output)
                if output.finish_reason:
                    self._on_answer()
        return report

    def _check_all_ended(self, answers: list[Answer]) -> None:
        num_open = sum(answer.finish_reason is None for answer in answers)
        if num_open:
            raise CheckFailedError(
                said("{open} of {number} answers never finished", open=num_open, number=len(answers))
            )

    def alone(self, request: Request) -> Answer:
        """The answer to the same prompt, alone and without cached cells."""
        self.check_empty()
        return self.ask(self.again(request))

    def check_empty(self) -> None:
        """No sequence has a position in the library, and no cell is used, in its books or in ours."""
        for seq_id in range(self.model.n_seq_max):
            if (pos := self.backend.pos_max(seq_id)) != -1:
                raise CheckFailedError(
                    said(
                        "sequence {seq_id} still holds cells up to position {position}, "
                        "though no chat is open",
                        seq_id=seq_id,
                        position=pos,
                    )
                )
        used = self.backend.used_cells()
        num_used = len(used.pos) if used else 0
        if num_used or self.engine.slots.cells.num_used:
            raise CheckFailedError(
                said(
                    "llama.cpp counts {used} used cells and Skein {booked}, though no chat is open",
                    used=num_used,
                    booked=self.engine.slots.cells.num_used,
                )
            )

    def forget(self, *answers: Answer) -> None:
        for answer in answers:
            self.engine.forget(answer.request.chat_id)
        self.engine.report()

    def seconds_of(self, work: Callable[[], object]) -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    # Comparing.

    def num_as_alone(self, answers: Sequence[Answer], what: str) -> int:
        """How many tokens of `answers`, whose chats are closed now, could be compared: all are as alone."""
        self.forget(*answers)
        return sum(self.num_alike(self.alone(answer.request), answer, what) for answer in answers)

    def num_alike(self, expected: Answer, answer: Answer, what: str) -> int:
        """How many tokens could be compared, all alike. CheckFailedError for one that is surely another."""
        for index, (one, other) in enumerate(zip(expected.tokens, answer.tokens, strict=False)):
            wanted, found = one.chosen.token_id, other.chosen.token_id
            if wanted == found:
                continue
            if _is_near(one, found) and _is_near(other, wanted):
                return index
            raise CheckFailedError(
                said(
                    "{what}: token {number} of the answer is {found}, but {wanted} when run alone",
                    what=what,
                    number=index + 1,
                    found=self._text(found),
                    wanted=self._text(wanted),
                )
            )
        if len(expected.tokens) != len(answer.tokens):
            raise CheckFailedError(
                said(
                    "{what}: the answer has {found} tokens, but {wanted} when run alone",
                    what=what,
                    found=len(answer.tokens),
                    wanted=len(expected.tokens),
                )
            )
        return len(expected.tokens)

    def _text(self, token_id: int) -> str:
        return repr(self.backend.token_piece(token_id).decode("utf-8", "replace"))


def living_native_objects() -> dict[str, int]:
    return {kind: num for kind, num in native_objects.items() if num}


def _is_near(sampled: SampledToken, token_id: int) -> bool:
    logprobs = {one.token_id: one.logprob for one in sampled.likeliest}
    return token_id in logprobs and sampled.chosen.logprob - logprobs[token_id] <= TIE
