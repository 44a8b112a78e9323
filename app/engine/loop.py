"""The engine's thread from outside: commands go into a mailbox, reports come out.

Knows no Qt; the thread that calls `run` is the engine's from then on, and no other touches the engine.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from app.engine.engine import Engine
from app.engine.lens import LensThread
from app.engine.prompt import Prompt
from app.engine.prompts.prompt_builder import PromptBuilder
from app.engine.running import CommandLoop
from app.protocol.commands import (
    Abort,
    AbortAll,
    Command,
    Forget,
    KeepCells,
    ReadAhead,
    SetFront,
    SetSpeed,
    Submit,
    ends,
)
from app.protocol.errors import EngineError, RequestError
from app.protocol.lens import LensAnswer, LensQuestion, StopLens
from app.protocol.output import FinishReason
from app.protocol.request import Caller, Request
from app.system.said import said

log = logging.getLogger(__name__)
T = TypeVar("T")

# Python switches threads every 5 ms by default. A GUI in the same process would stutter while this loop
# computes, so it sets the switch interval to this.
SWITCH_INTERVAL_S = 0.001
MAX_CALLERS = 100  # of whom it is known whose turn it is to have a prompt built
PROMPT_STACK_BYTES = 256 << 20  # virtual memory only; see `prompt.LONG_RUN`


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A submitted request whose prompt is now tokenized, or could not be."""

    request: Request
    result: Prompt | RequestError


@dataclass(frozen=True, slots=True)
class _PreparedAhead:
    """The beginning of prompts that may come."""

    request: Request
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class _Refitted:
    """The shorter prompt for an answer that reached the limit of its context, if there is one."""

    request_id: str
    result: Prompt | RequestError


@dataclass(frozen=True, slots=True)
class _Seen:
    """The lens has found out."""

    answer: LensAnswer


@dataclass(frozen=True, slots=True)
class _Encoded:
    """An encoding goes on, or has ended: a sequence may be ready."""


# The effects of these are reported with the next step, or as the end of an answer.
SHOWN_BY_STEPS = (Abort, AbortAll, SetFront, SetSpeed, KeepCells)
ABOUT_PROMPTS = (Abort, AbortAll, Forget, SetFront)

_Letter = _Prepared | _PreparedAhead | _Refitted | _Seen | _Encoded


class EngineLoop(CommandLoop[_Letter]):
    """Runs an engine until it is stopped. Values cross, objects stay."""

    def __init__(
        self,
        engine: Engine,
        on_reports_ready: Callable[[], None],
        turn: Callable[[], AbstractContextManager[bool | None]] = nullcontext,
    ) -> None:
        """Each step is computed inside of a `turn`, see `StepTurns`."""
        super().__init__(engine.interrupt, on_reports_ready)
        self._engine = engine
        self._turn = turn
        self._preparing: dict[str, Request] = {}  # the engine thread only
        self._prompt_thread = PromptThread(
            engine.prompts, self._mailbox.put, engine.slots.hibernated.prefetch
        )
        self._lens_thread = LensThread(engine.lens, self._on_seen) if engine.lens else None
        engine.when_encoded(lambda: self._mailbox.put(_Encoded()))
        engine.answers.build_shorter_prompt = self._prompt_thread.build_shorter

    # Any thread.

    def use_prompts(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """Call `work` on the prompt thread, beside the engine. Prompts of others wait meanwhile."""
        return self._prompt_thread.use(work)

    # The engine thread only.

    def run(self) -> None:
        """Step while there is work, sleep while there is none or it is paused.

        Raises EngineError when the engine cannot go on; every open request has ended with ERROR by then.
        """
        self._prompt_thread.start()
        try:
            while not self._stopping:
                self._receive()
                if not self._stopping:
                    self._advance()
            self._end_all(FinishReason.ABORT, "")
            if self._engine.has_work:
                self.put_report(self._engine.report())
        except Exception as error:  # the root of this thread: all requests must end
            self._engine.obey(KeepCells(None))  # its cells may be corrupt
            self._end_all(
                FinishReason.ERROR,
                said("The engine stopped: {reason} Load the model again.", reason=str(error)),
            )
            self.put_report(self._engine.post_mortem(error))
            raise
        finally:
            self._prompt_thread.stop()
            if self._lens_thread:
                self._lens_thread.stop()
            self._engine.close()

    def _receive(self) -> None:
        """Handle all messages; block for one only when there is nothing to compute."""
        if self._engine.stepping.is_paused:
            self._handle(self._mailbox.get())
        elif not self._engine.has_work:
            if self._engine.verify_when_idle():
                self.put_report(self._engine.report())
            self._handle(self._mailbox.get())
        while not self._engine.stepping.owes_a_step:
            try:
                self._handle(self._mailbox.get_nowait())
            except Empty:
                return

    def _advance(self) -> None:
        """One step or, while paused, the plan of the next one."""
        stepping = self._engine.stepping
        if self._engine.has_work and not stepping.is_paused:
            with self._turn() as others_wait:
                report = self._engine.step(is_waited_for=bool(others_wait))
            self.put_report(report)
        if not self._engine.has_open_answers and not self._preparing:
            stepping.note_no_work()
        if stepping.is_paused:
            self.put_report(self._engine.plan())

    def _handle(self, letter: _Letter | Command | None) -> None:
        match letter:
            case Submit(request):
                self._preparing[request.request_id] = request
                self._prompt_thread.prepare(request)
            case ReadAhead(request):
                self._prompt_thread.prepare_ahead(request)
            case _PreparedAhead(request, prompt):
                if not self._preparing:
                    self._engine.read_ahead(request, prompt)
            case _Prepared(request, result):
                self._add_prepared(request, result)
            case _Refitted(request_id, result):
                self._engine.refit(request_id, result)
            case _ if isinstance(letter, LensQuestion | StopLens):
                self._look(letter)
            case _Seen(answer):
                self._engine.take_answer(answer)
                self.put_report(self._engine.report())
            case _Encoded():
                self.put_report(self._engine.report())
            case None:
                pass
            case command:
                self._obey(command)

    def _obey(self, command: Command) -> None:
        if isinstance(command, ABOUT_PROMPTS):
            self._prompt_thread.post(command)
        for request in [one for one in self._preparing.values() if ends(command, one)]:
            del self._preparing[request.request_id]
            self._engine.answers.refuse(request, FinishReason.ABORT)
        self._engine.obey(command)
        if isinstance(command, AbortAll):
            self._engine.resume()
        if not isinstance(command, SHOWN_BY_STEPS):
            self.put_report(self._engine.report())

    def _look(self, question: LensQuestion | StopLens) -> None:
        if self._lens_thread is None:
            return
        if isinstance(question, StopLens):
            self._lens_thread.end(question)
        else:
            self._lens_thread.ask(question, partial(self._engine.slots.copied_state, question.chat_id))

    def _on_seen(self, answer: LensAnswer) -> None:
        """On the lens's thread."""
        self._mailbox.put(_Seen(answer))

    def _add_prepared(self, request: Request, result: Prompt | RequestError) -> None:
        if self._preparing.pop(request.request_id, None) is None:
            return  # aborted meanwhile
        if isinstance(result, RequestError):
            self._engine.answers.refuse_for(request, result)
        else:
            self._engine.add_request(request, result)

    def _end_all(self, reason: FinishReason, notice: str) -> None:
        """Every open request gets its last output."""
        while not self._mailbox.empty():
            letter = self._mailbox.get()
            if isinstance(letter, Submit):
                self._preparing[letter.request.request_id] = letter.request
        for request in self._preparing.values():
            self._engine.answers.refuse(request, reason, notice)
        self._preparing.clear()
        self._engine.abort_all(reason, notice)


@dataclass(frozen=True, slots=True)
class _Use:
    work: Callable[[PromptBuilder], Any]
    future: Future[Any]

    def run(self, prompts: PromptBuilder) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.work(prompts))
        except Exception as error:  # the caller gets it with the result
            self.future.set_exception(error)

    def give_up(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(EngineError("The engine stopped."))


@dataclass(frozen=True, slots=True)
class _Build:
    """The prompt of a request, or a shorter one for its answer of so many tokens, or only its beginning."""

    request: Request
    num_generated_tokens: int = 0
    is_ahead: bool = False


class _Rank(IntEnum):
    """Which order comes first; of equal ones, the one that came first."""

    IN_FRONT = 0
    IN_TURN = 1
    AHEAD = 2


def _caller(order: _Build | _Use) -> Caller | None:
    return order.request.caller if isinstance(order, _Build) else None


def _is_withdrawn(order: _Build | _Use, command: Command) -> bool:
    return isinstance(order, _Build) and ends(command, order.request)


class PromptThread:
    """Builds prompts beside the engine, so that a slow template or a long text delays no other answer.

    The front tab's first, then one of each caller in turn.
    """

    def __init__(
        self,
        prompts: PromptBuilder,
        put: Callable[[_Letter], None] = lambda _letter: None,
        prefetch: Callable[[str], None] = lambda _chat_id: None,
    ) -> None:
        """What was built is `put` into the engine's mailbox. `prefetch` gets the saved state of a chat."""
        self._prompts, self._put, self._prefetch = prompts, put, prefetch
        self._letters: SimpleQueue[_Build | _Use | Command | None] = SimpleQueue()
        self._orders: list[_Build | _Use] = []  # this thread only, as the next
        self._front_chat_id: str | None = None
        self._served: OrderedDict[Caller | None, int] = OrderedDict()  # when each was served last
        self._turn = 0
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def start(self) -> None:
        former = threading.stack_size(PROMPT_STACK_BYTES)
        try:
            self._thread = threading.Thread(target=self._run, name="skein-prompt")
            self._thread.start()
        finally:
            threading.stack_size(former)

    def stop(self) -> None:
        """What has not begun is left out."""
        self._letters.put(None)
        self._prompts.close()  # a template that still renders is killed
        if self._thread:
            self._thread.join()
        self._is_stopped = True
        self._end_uses()

    def use(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        future: Future[T] = Future()
        self._letters.put(_Use(work, future))
        if self._is_stopped:  # `stop` may have drained the queue already
            self._end_uses()
        return future

    def prepare(self, request: Request) -> None:
        self._letters.put(_Build(request))

    def prepare_ahead(self, request: Request) -> None:
        self._letters.put(_Build(request, is_ahead=True))

    def build_shorter(self, request: Request, num_generated_tokens: int) -> None:
        self._letters.put(_Build(request, num_generated_tokens))

    def post(self, command: Command) -> None:
        """Which prompts nobody waits for any more, or whose goes first."""
        self._letters.put(command)

    def _run(self) -> None:
        while self._receive():
            order = min(self._orders, key=self._rank)
            self._orders.remove(order)
            self._note_turn(order)
            if isinstance(order, _Use):
                order.run(self._prompts)
                continue
            if order.is_ahead:
                self._build_ahead(order.request)
                continue
            request, num_generated_tokens = order.request, order.num_generated_tokens
            result = self._build(request, num_generated_tokens)
            if num_generated_tokens:
                self._put(_Refitted(request.request_id, result))
            else:
                self._prefetch(request.chat_id)
                if request.begins_as:
                    self._prefetch(request.begins_as)
                self._put(_Prepared(request, result))
        for order in self._orders:
            if isinstance(order, _Use):
                order.give_up()

    def _receive(self) -> bool:
        """Take all letters; wait for one only when there is nothing to build. False: it is to end."""
        while not (self._orders and self._letters.empty()):
            letter = self._letters.get()
            if letter is None:
                return False
            if isinstance(letter, _Build) and letter.is_ahead:  # replaces the one before
                self._orders = [order for order in self._orders if self._rank(order)[0] is not _Rank.AHEAD]
            if isinstance(letter, _Build | _Use):
                self._orders.append(letter)
            elif isinstance(letter, SetFront):
                self._front_chat_id = letter.chat_id
            else:
                self._orders = [order for order in self._orders if not _is_withdrawn(order, letter)]
        return True

    def _rank(self, order: _Build | _Use) -> tuple[_Rank, int]:
        """Of callers the one who was served longest ago. Uses of the tokenizer are one caller's."""
        turn = self._served.get(_caller(order), 0)
        if isinstance(order, _Use):
            return _Rank.IN_TURN, turn
        if order.is_ahead:
            return _Rank.AHEAD, 0
        is_in_front = order.request.chat_id == self._front_chat_id
        return (_Rank.IN_FRONT, 0) if is_in_front else (_Rank.IN_TURN, turn)

    def _note_turn(self, order: _Build | _Use) -> None:
        self._turn += 1
        self._served[_caller(order)] = self._turn
        self._served.move_to_end(_caller(order))
        if len(self._served) > MAX_CALLERS:
            self._served.popitem(last=False)

    def _build_ahead(self, request: Request) -> None:
        with suppress(RequestError):  # it is told when it is sent
            self._put(_PreparedAhead(request, self._prompts.build_ahead(request)))

    def _build(self, request: Request, num_generated_tokens: int) -> Prompt | RequestError:
        try:
            return self._prompts.build(request, num_generated_tokens)
        except RequestError as error:
            return error
        except Exception:  # the root of this thread: our bug ends one answer, not all later ones
            log.exception("building the prompt of %s failed", request.request_id)
            return RequestError(said("Skein failed to build the prompt; the log says why."))

    def _end_uses(self) -> None:
        """Every pending call must complete."""
        with suppress(Empty):
            while True:
                letter = self._letters.get_nowait()
                if isinstance(letter, _Use):
                    letter.give_up()
