"""Random sessions of a few chats, and a second reading of what the engine did in them.

`Session` acts as people and programs do, and knows what it did. `Book` reads spans and events alone: which
tokens each sequence holds, which of them were read ahead, and how long each answer was worked on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.chats.chat import Turn
from app.engine.cells.hibernation import HibernatedChats
from app.engine.engine import Engine
from app.engine.prompt import Prompt
from app.inspector.chat_names import PROBE_ID
from app.inspector.recording import Recording
from app.protocol import events
from app.protocol.answer_format import ChatParams
from app.protocol.commands import ClearCells, Hibernate, Pause, Pin, Restore, Resume, SetFront, StepOnce
from app.protocol.output import Usage
from app.protocol.report import Lease, Span, StepReport
from app.protocol.request import Message, Request, Role
from tests.driver import GREEDY

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.batch import Batch

CHATS = ("ann", "bob", "cat", "dan", "eve")
TEXTS = ("hi", "what do all of these chats begin with?", "tell me more of it, please", "1+1=")
STEP_S, PAUSE_S = 0.01, 1000.0
TOOLS = ("", '[{"name": "clock"}]', '[{"name": "calculator"}]')


class Clock:
    """Only decodes and pauses take time."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def rendered(request: Request, rewrites: bool, written: Mapping[str, Sequence[int]]) -> list[int]:
    """The prompt. A template that `rewrites` puts earlier answers in capitals; `written` are their tokens."""
    tokens = list(f"[{request.chat_params.tools}]".encode()) if request.chat_params.tools else []
    for message in request.messages:
        content = message.content.upper() if rewrites and message.role is Role.ASSISTANT else message.content
        tokens += [*f"<{message.role[0]}>".encode(), *written.get(content, content.encode())]
    if request.max_tokens == 0:  # read ahead: what follows is not known
        return tokens
    return [*tokens, *b"<a>"]


@dataclass
class TestedChat:
    name: str
    system: str = ""
    tools: str = ""
    rewrites: bool = False
    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    open: Request | None = None
    text: str = ""  # of the answer that grows
    token_ids: list[int] = field(default_factory=list)  # of the same
    deeds: set[str] = field(default_factory=set)  # since the last request that got a slot
    was_asked: bool = False


class Session:
    def __init__(self, rng: random.Random, clock: Clock, backend: Backend) -> None:
        self.rng, self.clock = rng, clock
        self.backend, self._decode = backend, backend.decode
        backend.decode = self._take_time  # type: ignore[method-assign]
        self.engine = Engine(backend, HibernatedChats(rng.choice([0, 2**11, 2**20])))
        self.written: dict[str, list[int]] = {}  # tokens of answers
        self.chats = {name: TestedChat(name) for name in CHATS}
        self.requests: dict[str, Request] = {}
        self.wanted: dict[str, list[int]] = {}  # the prompt of each request
        self.ahead: set[str] = set()  # requests that were never sent
        self.recording = Recording()
        self.recording.start(self.engine.model)
        self.look: Callable[[StepReport], None] = lambda _report: None
        self._num_asked = 0

    def play(self, num_deeds: int) -> None:
        deeds = [
            *[self._ask] * 6,
            *[self._steps] * 12,
            *[self._type] * 4,
            *[self._edit, self._regenerate, self._continue_as_program] * 1,
            *[self._stop, self._fork, self._close, self._pause_and_step, self._rest] * 1,
            *[self._probe, self._change_system, self._change_tools, self._change_template],
            *[self._command] * 3,
        ]
        for _ in range(num_deeds):
            self.rng.choice(deeds)(self.chats[self.rng.choice(CHATS)])
        while self.engine.has_work:
            self.step()

    # What people do.

    def _ask(self, chat: TestedChat) -> None:
        if chat.open or len(chat.messages) > 6:
            return
        chat.messages.append(Message(Role.USER, self.rng.choice(TEXTS)))
        chat.turns.append(Turn(Role.USER, chat.messages[-1].content))
        self._submit(chat)

    def _submit(self, chat: TestedChat) -> None:
        while not self._fits(
            request := self._request(chat, chat.messages, self.rng.choice([1, 4, 90])), chat
        ):
            del chat.messages[:2], chat.turns[:2]
            chat.deeds.add("edited")
        chat.open, chat.text, chat.token_ids = request, "", []
        self.engine.add_request(request, self._prompt(request, chat))
        self.report()

    def _type(self, chat: TestedChat) -> None:
        """A draft that goes on, or another one; perhaps it is sent then."""
        if chat.open or len(chat.messages) > 6:
            return
        text = self.rng.choice(TEXTS)
        for end in sorted(self.rng.sample(range(len(text) + 1), k=min(2, len(text)))):
            draft = self.rng.choice(["", "no, "]) + text[:end]
            messages = [*chat.messages, Message(Role.USER, draft)]
            request = self._request(chat, messages, max_tokens=0)
            if not self._fits(request, chat):
                return
            self.ahead.add(request.request_id)
            self.engine.read_ahead(request, self._prompt(request, chat))
            for _ in range(self.rng.randint(0, 2)):
                self.step()
        if self.rng.random() < 0.6:
            self._ask(chat)

    def _edit(self, chat: TestedChat) -> None:
        """An earlier question, or the last answer; or the last turns are deleted."""
        if chat.open or len(chat.messages) < 2:
            return
        what = self.rng.choice(["question", "answer", "delete"])
        if what == "question":
            at = self.rng.randrange(0, len(chat.messages), 2)
            self._cut(chat, at)
            chat.deeds.add("edited")
            chat.messages.append(Message(Role.USER, self.rng.choice(TEXTS) + " edited"))
            chat.turns.append(Turn(Role.USER, chat.messages[-1].content))
            self._submit(chat)
        elif what == "answer":
            chat.messages[-1] = Message(Role.ASSISTANT, chat.messages[-1].content[:2] + " edited")
            chat.deeds.add("edited answer")
            self._ask(chat)
        else:
            self._cut(chat, len(chat.messages) - 2)
            chat.deeds.add("edited")

    def _regenerate(self, chat: TestedChat) -> None:
        if not chat.open and len(chat.messages) >= 2:
            self._cut(chat, len(chat.messages) - 1)
            self._submit(chat)

    def _continue_as_program(self, chat: TestedChat) -> None:
        """A client that sends the last answer back without its beginning, such as its reasoning."""
        if not chat.open and len(chat.messages) >= 2:
            chat.messages[-1] = Message(Role.ASSISTANT, chat.messages[-1].content[3:] or "x")
            chat.deeds.add("edited answer")
            self._ask(chat)

    def _cut(self, chat: TestedChat, num_left: int) -> None:
        del chat.messages[num_left:], chat.turns[num_left:]

    def _stop(self, chat: TestedChat) -> None:
        if chat.open:
            self.engine.abort(chat.open.request_id)
            self.report()

    def _fork(self, chat: TestedChat) -> None:
        """Into a chat that is closed for it."""
        other = self.chats[self.rng.choice(CHATS)]
        if other is not chat and not chat.open:
            self._close(other)
            other.was_asked = self.engine.slots.fork(chat.name, other.name) and chat.was_asked
            other.system, other.tools, other.rewrites = chat.system, chat.tools, chat.rewrites
            other.messages, other.turns = list(chat.messages), list(chat.turns)
            other.deeds = set(chat.deeds)
            self.report()

    def _close(self, chat: TestedChat) -> None:
        self.engine.forget(chat.name)
        self.report()
        self.chats[chat.name].__init__(chat.name)  # type: ignore[misc]

    def _probe(self, chat: TestedChat) -> None:
        """One place of its newest answer is looked up."""
        if not chat.open and chat.turns and chat.turns[-1].usage.num_prompt_tokens:
            if not self._fits(self._request(chat, chat.messages[:-1]), chat):
                return
            request = Request(
                f"r{self._num_asked}",
                f"{PROBE_ID}{self._num_asked}",
                prompt=tuple(self._rendered(self._request(chat, chat.messages[:-1]), chat)),
                max_tokens=1,
                keep_cells=False,
                sampling=GREEDY,
            )
            self.requests[request.request_id] = request
            self.wanted[request.request_id] = [one for one in request.prompt if isinstance(one, int)]
            self.engine.add_request(request, Prompt(tuple(self.wanted[request.request_id])))
            self.report()

    def _change_system(self, chat: TestedChat) -> None:
        if not chat.open:
            chat.system = self.rng.choice(["", "Be short, whatever you are asked.", "Be long."])
            chat.deeds.add("system")

    def _change_tools(self, chat: TestedChat) -> None:
        if not chat.open:
            chat.tools = self.rng.choice(TOOLS)
            chat.deeds.add("tools")

    def _change_template(self, chat: TestedChat) -> None:
        if not chat.open:
            chat.rewrites = not chat.rewrites
            chat.deeds.add("template")

    def _command(self, chat: TestedChat) -> None:
        commands = (Hibernate, Restore, ClearCells, Pin, SetFront)
        self.engine.obey(self.rng.choice(commands)(chat.name))
        self.report()

    def _pause_and_step(self, _chat: TestedChat) -> None:
        self.engine.obey(Pause())
        for _ in range(self.rng.randint(0, 2)):
            self.look_at(self.engine.plan())
            self.clock.now += PAUSE_S
            if not self.engine.has_work:
                break
            self.engine.obey(StepOnce())
            self.step()
        self.engine.obey(Pause())
        self.look_at(self.engine.plan())
        self.clock.now += PAUSE_S
        self.engine.obey(Resume())

    def _rest(self, _chat: TestedChat) -> None:
        """Nobody does anything for a while."""
        while self.engine.has_work:
            self.step()
        self.clock.now += PAUSE_S

    def _steps(self, _chat: TestedChat) -> None:
        for _ in range(self.rng.randint(1, 6)):
            self.step()

    # The engine.

    def step(self) -> None:
        if self.engine.has_work:
            self.look_at(self.engine.step())

    def report(self) -> None:
        self.look_at(self.engine.report())

    def look_at(self, report: StepReport) -> None:
        self.recording.append([report])
        self.look(report)
        for output in report.outputs:
            chat = next((one for one in self.chats.values() if one.name == output.chat_id), None)
            if not (chat and chat.open and chat.open.request_id == output.request_id):
                continue
            chat.text += output.text
            chat.token_ids += output.token_ids
            if output.finish_reason:
                self._note_end(chat, output.usage)

    def _note_end(self, chat: TestedChat, usage: Usage) -> None:
        chat.open = None
        self.written[chat.text] = chat.token_ids
        chat.messages.append(Message(Role.ASSISTANT, chat.text))
        chat.turns.append(Turn(Role.ASSISTANT, chat.text, usage=usage))
        if not chat.text:  # nothing stays of an answer that never began
            self._cut(chat, len(chat.messages) - 2)
            chat.deeds.add("edited")

    def _take_time(self, batch: Batch) -> None:
        self.clock.now += STEP_S
        self._decode(batch)

    def _request(self, chat: TestedChat, messages: list[Message], max_tokens: int = 1) -> Request:
        self._num_asked += 1
        system = [Message(Role.SYSTEM, chat.system)] if chat.system else []
        return Request(
            f"r{self._num_asked}",
            chat.name,
            (*system, *messages),
            GREEDY,
            max_tokens=max_tokens,
            chat_params=ChatParams(tools=chat.tools),
        )

    def _fits(self, request: Request, chat: TestedChat) -> bool:
        return len(self._rendered(request, chat)) < self.engine.model.n_ctx - 1

    def _rendered(self, request: Request, chat: TestedChat) -> list[int]:
        return rendered(request, chat.rewrites, self.written)

    def _prompt(self, request: Request, chat: TestedChat) -> Prompt:
        self.requests[request.request_id] = request
        self.wanted[request.request_id] = self._rendered(request, chat)
        return Prompt(tuple(self.wanted[request.request_id]), request.messages)


@dataclass
class Held:
    """Tokens of a chat, in cells or saved. Those behind the first `num_sent` were read ahead.

    The first `num_given` of these were another chat's then.
    """

    token_ids: list[int] = field(default_factory=list)
    num_sent: int = 0
    num_given: int = 0

    def cut(self, length: int) -> Held:
        return Held(self.token_ids[:length], min(self.num_sent, length), min(self.num_given, length))


@dataclass
class Work:
    """On one request."""

    num_rows: int = 0  # of the lease that it has now
    num_rows_in_all: int = 0
    generated: list[int] = field(default_factory=list)
    began_s: float = 0.0  # `at_work_s` when its first token came
    ended_s: float = 0.0
    at_work_s: float = 0.0  # in a slot, while decodes ran
    is_running: bool = False


class Replaced:
    """Tokens were given up for what was read ahead."""


@dataclass
class Taken:
    """A lease, what its chat had before it, and what its sequence had then."""

    lease: Lease
    before: Held
    now: Held
    is_first: bool


class Book:
    """Reads reports in their order."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.cells: dict[int, Held] = {slot.seq_id: Held() for slot in session.engine.slots.slots}
        self.owner: dict[int, str | None] = dict.fromkeys(self.cells)
        self.saved: dict[str, Held] = {}
        self.lost_by: dict[str, type[object]] = {}  # what happened to the last tokens of a chat
        self.work: dict[str, Work] = {}
        self.taken: list[Taken] = []  # the leases of this report

    def of(self, chat_id: str) -> Held:
        seq_id = next((seq_id for seq_id, owner in self.owner.items() if owner == chat_id), None)
        return self.saved.get(chat_id, Held()) if seq_id is None else self.cells[seq_id]

    def read(self, report: StepReport) -> None:
        self.taken.clear()
        leases = list(report.leases)
        in_batch = {span.seq_id for span in report.spans}
        chats_before = {lease.chat_id: self.of(lease.chat_id) for lease in leases}
        late = [one for one in report.events if isinstance(one, events.Released) and one.seq_id in in_batch]
        for event in report.events:
            if isinstance(event, events.Leased | events.Resumed):
                self._lease(leases.pop(0), chats_before)
            elif event not in late:
                self._note(event)
            if not isinstance(event, events.Restored | events.Shared):  # they are of the lease itself
                chats_before |= {lease.chat_id: self.of(lease.chat_id) for lease in leases}
        assert not leases
        for span in report.spans:
            self._compute(span)
        for event in late:  # what ended with this step
            self._note(event)
        self._note_outputs(report)

    def _lease(self, lease: Lease, chats_before: dict[str, Held]) -> None:
        seq_id, request_id = lease.seq_id, lease.request_id
        before = chats_before[lease.chat_id]
        num_had = lease.num_reused_tokens + lease.num_shared_tokens + lease.num_restored_tokens
        now = self.cells[seq_id].cut(num_had)
        assert len(now.token_ids) == num_had, "more was there than the sequence held"
        self.taken.append(Taken(lease, before, now, is_first=request_id not in self.work))
        if request_id in self.session.ahead:
            now.num_sent = min(before.num_sent, common(before.token_ids, now.token_ids))
            if now.num_sent < before.num_sent:
                self.lost_by[lease.chat_id] = Replaced
            now.num_given = lease.num_shared_tokens or now.num_given
        else:
            now.num_sent, now.num_given = num_had, 0
        self.cells[seq_id], self.owner[seq_id] = now, lease.chat_id
        self.saved.pop(lease.chat_id, None)
        work = self.work.setdefault(request_id, Work())
        work.num_rows, work.is_running = 0, request_id not in self.session.ahead

    def _note(self, event: events.Event) -> None:
        seq_id, chat_id = event.seq_id, event.chat_id or ""
        match event:
            case events.Hibernated():
                self.saved[chat_id] = self.cells[seq_id or 0]
                self._leave(seq_id)
            case events.Evicted():
                self.lost_by[chat_id] = events.Evicted
                self._leave(seq_id)
            case events.StateLost() | events.StateDropped():
                del self.saved[chat_id]
                self.lost_by[chat_id] = type(event)
            case events.StateUnusable():
                self.saved.pop(chat_id, None)
                self.lost_by[chat_id] = type(event)
                self._empty(seq_id)
            case events.Restored(num_tokens=length):
                self.cells[seq_id or 0] = self.saved.pop(chat_id).cut(length)
                self.owner[seq_id or 0] = chat_id
            case events.Shared(num_cells=length) | events.Forked(num_cells=length):
                source = event.donor if isinstance(event, events.Shared) else event.source
                if isinstance(event, events.Forked):  # all that is known of the one is known of the other
                    self.lost_by[chat_id] = self.lost_by.get(self.owner[source] or "", events.Forked)
                self.cells[seq_id or 0] = self.cells[source].cut(length)
                self.owner[seq_id or 0] = chat_id
            case events.Cleared():
                self.lost_by[chat_id] = events.Cleared
                self._empty(seq_id)
            case events.Released(is_kept=False):
                self._empty(seq_id)
            case events.Paused():
                work = self._work_in(seq_id)
                work.is_running = False

    def _leave(self, seq_id: int | None) -> None:
        """The chat is gone; a sequence that comes may find its tokens still there."""
        self.owner[seq_id or 0] = None

    def _empty(self, seq_id: int | None) -> None:
        self.cells[seq_id or 0], self.owner[seq_id or 0] = Held(), None

    def _work_in(self, seq_id: int | None) -> Work:
        chat_id = self.owner[seq_id or 0]
        running = (one for key, one in self.work.items() if self.session.requests[key].chat_id == chat_id)
        return next(one for one in running if one.is_running)

    def _compute(self, span: Span) -> None:
        held, work = self.cells[span.seq_id], self.work[span.request_id]
        assert span.first_pos == len(held.token_ids)
        is_ahead = span.request_id in self.session.ahead
        assert span.is_ahead == is_ahead
        token_ids = [*held.token_ids, *span.token_ids]
        num_sent = held.num_sent if is_ahead else len(token_ids)
        self.cells[span.seq_id] = Held(token_ids, num_sent, held.num_given if is_ahead else 0)
        work.num_rows += span.num_rows
        work.num_rows_in_all += span.num_rows

    def _note_outputs(self, report: StepReport) -> None:
        if report.spans:
            for work in self.work.values():
                work.at_work_s += STEP_S * work.is_running
        for span in report.spans:
            work = self.work[span.request_id]
            if span.wants_logits and span.num_generated_tokens > len(work.generated):
                work.generated.append(-1)
                work.ended_s = work.at_work_s
                work.began_s = work.began_s or work.at_work_s
        for output in report.outputs:
            if output.finish_reason and output.request_id in self.work:
                self.work[output.request_id].is_running = False


def common(one: list[int], other: list[int]) -> int:
    """How many tokens both begin with."""
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length
