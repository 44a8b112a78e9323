"""Makes the requests of a job, and turns their outputs into its answers. One thread at a time, any.

Does not send them: whoever does asks for as many as there is room for, and saves now and then.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.message_reader import AnswerReader
from app.protocol.errors import InvalidRequestError, RequestError
from app.protocol.output import FinishReason, Output
from app.protocol.request import ROWS, WINDOW, Caller, Message, Request, Role
from app.protocol.sampling import MAX_SEED, SamplingParams
from app.rows.answer_form import Kind, most_given
from app.rows.job import Answered, Asked, Job
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.prompts.prompt_builder import PromptBuilder

MIN_SHARED_TOKENS = 16  # fewer are computed as fast as shared
_NO_THINKING = '{"enable_thinking": false}'  # where a template can do without
_CUT_OFF = said("The answer was cut off at its limit of tokens.")


@dataclass(slots=True)
class _Votes:
    """The answers of one row, as they come."""

    prompt: int
    num_open: int
    values: list[tuple[object, ...]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    error: str = ""


@dataclass(slots=True)
class _Running:
    votes: _Votes
    text: str = ""
    parser: str = ""


class Runner:
    def __init__(
        self,
        job: Job,
        sampling: SamplingParams,
        chat_layer: ChatWorker,
        max_tokens: int | None = None,
        limit: int = 0,
        caller: Caller = WINDOW,
    ) -> None:
        """`sampling` is the model's. `limit` leaves out rows behind that number. The job's table was read."""
        self._form, self._num_votes = job.settings.form, job.settings.num_votes
        self._sampling = job.settings.sampling(sampling)
        self._job, self._chat_layer, self._limit = job, chat_layer, limit
        self._max_tokens, self._caller = max_tokens, caller
        self._ready: deque[tuple[Request, _Votes]] = deque()
        self._running: dict[str, _Running] = {}
        self._known: set[int] = set()  # prompts that are asked, or whose answers are not saved
        self._last_number = 0
        self._answered: list[Answered] = []
        self._begins_as = ""
        self._is_beginning = False  # rows wait for that
        self.num_shared_tokens = 0  # that all rows begin with
        self.num_prompt_tokens = self.num_computed_tokens = 0  # of all prompts in this run

    @property
    def beginning_id(self) -> str:
        """The chat id of what all rows begin with: forget it in the end."""
        return f"{ROWS}{self._job.settings.id}"

    @property
    def beginning(self) -> Request:
        """Of what `shared_tokens` tells the tokens."""
        return self._request(self.beginning_id, self._job.template.beginning, 0)

    def begin(self, token_ids: tuple[int, ...]) -> Request | None:
        """Computes what all rows begin with, which wait for its end. None: it does not pay."""
        if len(token_ids) < MIN_SHARED_TOKENS:
            return None
        self._begins_as, self._is_beginning = self.beginning_id, True
        self.num_shared_tokens = len(token_ids)
        return Request(
            self.beginning_id,
            self.beginning_id,
            prompt=token_ids,
            max_tokens=0,
            begins_as=self.beginning_id,
            caller=self._caller,
        )

    @property
    def num_running(self) -> int:
        return len(self._running) + self._is_beginning

    def next_requests(self, num_free: int) -> list[Request]:
        """As many as that, if there are. All is done when there is none, and none is running."""
        if self._is_beginning:
            return []
        self._fill(num_free)
        found: list[Request] = []
        while self._ready and len(found) < num_free:
            request, votes = self._ready.popleft()
            self._running[request.request_id] = _Running(votes)
            found.append(request)
        return found

    def take(self, output: Output) -> None:
        """An output of any request; those of others are left alone."""
        if output.request_id == self.beginning_id and output.finish_reason:
            self._is_beginning = False
            self.num_computed_tokens += output.usage.num_computed_prompt_tokens
        running = self._running.get(output.request_id)
        if running is None:
            return
        if output.format:
            running.parser = output.format.parser
        running.text += output.delta.content if output.delta else output.text
        if output.finish_reason:
            del self._running[output.request_id]
            if output.finish_reason is not FinishReason.ERROR:
                self.num_prompt_tokens += output.usage.num_prompt_tokens
                self.num_computed_tokens += output.usage.num_computed_prompt_tokens
            self._note(running, output)

    def save(self) -> int:
        """What was answered is on disk then. How many rows that are."""
        if not self._answered:
            return 0
        num_rows = self._job.put(self._answered)
        self._known.difference_update(one.prompt for one in self._answered)
        self._answered = []
        return num_rows

    def _fill(self, num_wanted: int) -> None:
        while len(self._ready) < num_wanted:
            some = self._job.waiting(self._last_number, num_wanted, self._limit)
            if not some:
                break
            for asked in some:
                self._last_number = asked.number
                if asked.prompt not in self._known:
                    self._known.add(asked.prompt)
                    self._prepare(asked)

    def _prepare(self, asked: Asked) -> None:
        try:
            prompt = self._job.prompt_of(asked.cells)
        except InvalidRequestError as error:
            self._answered.append(Answered(asked.prompt, error=str(error)))
            return
        votes = _Votes(asked.prompt, self._num_votes)
        for number in range(self._num_votes):
            name = f"{self.beginning_id} {asked.number} {number + 1}"
            self._ready.append((self._request(name, prompt, number), votes))

    def _request(self, name: str, prompt: str, number: int) -> Request:
        sampling = self._sampling
        if sampling.seed is not None:
            sampling = replace(sampling, seed=min(sampling.seed + number, MAX_SEED))
        return Request(
            name,
            name,
            (Message(Role.USER, prompt),),
            sampling,
            self._max_tokens,
            keep_cells=False,
            template_variables=_NO_THINKING,
            begins_as=self._begins_as,
            caller=self._caller,
        )

    def _note(self, running: _Running, output: Output) -> None:
        votes = running.votes
        if output.finish_reason is FinishReason.ABORT:  # it was not answered, and waits for the next run
            votes.num_open = -1
            return
        votes.num_open -= 1
        try:
            self._read(running, output)
        except (RequestError, ValueError) as error:
            votes.error = str(error)
        if votes.num_open == 0:
            self._answered.append(self._counted(votes))

    def _read(self, running: _Running, output: Output) -> None:
        """Raises RequestError, or ValueError with a sentence."""
        text = running.text
        if not output.delta:
            text = AnswerReader(self._chat_layer, running.parser).read(text, is_last=True).content
        running.votes.texts.append(text)
        if output.finish_reason is FinishReason.ERROR:
            raise ValueError(output.notice)
        if output.finish_reason is FinishReason.STOP or self._form.kind is Kind.TEXT:
            running.votes.values.append(self._form.values(text))
        if output.finish_reason is FinishReason.LENGTH:
            raise ValueError(output.notice or _CUT_OFF)

    def _counted(self, votes: _Votes) -> Answered:
        texts = tuple(votes.texts)
        if not votes.values:
            return Answered(votes.prompt, error=votes.error, texts=texts)
        values, count = most_given(votes.values)
        error = votes.error if self._num_votes == 1 else ""  # of a text that was cut off
        return Answered(votes.prompt, values, count / self._num_votes, error, texts)


def shared_tokens(prompts: PromptBuilder, beginning: Request) -> tuple[int, ...]:
    """The tokens that the prompts of all rows begin with; none where that cannot be told."""
    try:
        return prompts.build_ahead(beginning).token_ids
    except RequestError:
        return ()
