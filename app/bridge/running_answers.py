"""The answers of one chat that are being written: asked for, updated from outputs, ended. GUI thread.

Of the chat it changes these turns alone; what follows from their end is the session's.
"""

import asyncio
import copy
import uuid
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.bridge.chat_limits import ChatLimits
from app.bridge.chat_shelf import ChatShelf, has_passages
from app.bridge.chat_tools import ChatTools
from app.bridge.engines import ChatEngine
from app.bridge.media_files import MediaFiles
from app.bridge.tasks import spawn
from app.bridge.tool_rounds import Listener, ToolRounds
from app.chats.chat import Chat, Turn, TurnState, answered_by
from app.chats.options import ChatOptions
from app.chats.tasks import (
    MAX_ROUNDS,
    MAX_RUNNING,
    MAX_SECONDS,
    MAX_TOKENS,
    TOO_LATE,
    result_of,
    results_as_text,
    task_turns,
    tasks_in,
)
from app.chats.thinking import Split
from app.chats.tool_use import ToolUse
from app.protocol.commands import Abort, Forget, NoteTool, Submit
from app.protocol.load import name_at
from app.protocol.model_names import title_of
from app.protocol.output import NO_USAGE, FinishReason, Output, Usage
from app.protocol.request import TASK, WAY, Message, Request
from app.shelves.documents import before_citation, citation_grammar, ends_in_citation
from app.system.said import said
from app.tools.delegate import delegate_tool
from app.tools.tool import Tool, ToolError

MAX_CITATION_TOKENS = 8

MakeRequest = Callable[[tuple[Message, ...], str | tuple[int, ...], Iterable[Tool]], Request]


@dataclass(slots=True, eq=False)
class RunningAnswer:
    turn: Turn
    usage_before: Usage = NO_USAGE  # of the part that it continues
    is_submitted: bool = False  # the engine has been asked, and has not ended
    model_before: str = ""  # of the part that it continues, until it goes on
    num_summed_up: int = 0  # turns that a summary stands for in its prompt
    thought_before_s: float = 0.0  # in the part that it continues
    way_number: int = 0  # of several answers to one message
    options: ChatOptions | None = None  # in place of the chat's own
    way_name: str = ""  # of these options
    whole: tuple[str, Split | None, Output] | None = None  # text, reading and end, while it cites
    awaited_servers: tuple[str, ...] = ()  # whose tools it is to be asked with
    task_end: asyncio.Future[None] | None = None  # of a task that another answer has handed out
    task_depth: int = 0
    is_by_hand: bool = False  # it begins with tasks that the user hands out
    rounds: ToolRounds = field(init=False)  # which reads it

    @property
    def model_address(self) -> str:
        """Of one that is not the chat's; else empty."""
        return self.options.model if self.options else ""

    def take(self, outputs: tuple[Output, ...], model: str) -> None:
        """Adds the output of `model`."""
        turn = self.turn
        usage = next((output.usage for output in reversed(outputs) if output.usage != NO_USAGE), None)
        if usage:  # the last output of an engine that is gone has no usage
            turn.usage = self.usage_before.followed_by(replace(usage, num_summed_up=self.num_summed_up))
        if (turn.is_empty or self.model_before) and any(output.text for output in outputs):
            turn.model, self.model_before = answered_by(self.model_before, model), ""
        if outputs[-1].finish_reason:
            self.is_submitted = False
        self.rounds.take(outputs)

    def show(self, text: str, reading: Split | None) -> None:
        """`text` is the part so far. `reading` is what its marks do not say of its thinking and answer."""
        turn = self.turn
        turn.text, turn.reading = text, reading
        # From its first token to the last thought. Some are known as such only when they have ended.
        split = turn.split
        if split.is_thinking or (split.thinking and not turn.thinking_s):
            decode_s = turn.usage.decode_s - self.usage_before.decode_s  # without pauses
            turn.thinking_s = self.thought_before_s + decode_s

    def begin_part(self) -> None:
        """After calls of tools."""
        self.usage_before, self.thought_before_s = NO_USAGE, 0.0
        self.is_submitted = False
        self.rounds.begin_part()


class RunningAnswers(QObject):
    changed = Signal(object)  # the Turn of which more than its text is new
    grew = Signal(object)  # the Turn of which a text or a call's arguments grew, and nothing else is new
    ended = Signal(object, object)  # the Turn, and its last Output
    task_ended = Signal(object, object)  # the same, of a task of an answer that goes on

    def __init__(
        self,
        chat: Chat,
        engine: ChatEngine,
        limits: ChatLimits,
        tools: ChatTools,
        shelf: ChatShelf,
        media: MediaFiles,
        save: Callable[[], Awaitable[None]],
        make_request: MakeRequest,
        parent: QObject,
    ) -> None:
        """`save` returns once what was touched is on disk, or cannot be written."""
        super().__init__(parent)
        self._chat, self._engine, self._limits = chat, engine, limits
        self._tools, self._shelf, self._media = tools, shelf, media
        self._save, self._make_request = save, make_request
        self._answers: dict[str, RunningAnswer] = {}  # by request id, the last one while calls run

    def __bool__(self) -> bool:
        return bool(self._answers)

    @property
    def request_ids(self) -> tuple[str, ...]:
        return tuple(self._answers)

    def turn_of(self, request_id: str) -> Turn | None:
        """The answer that it asks for, as long as that has not ended."""
        answer = self._answers.get(request_id)
        return answer.turn if answer else None

    @property
    def awaited_servers(self) -> tuple[str, ...]:
        """The MCP servers that are starting, and that an answer waits for."""
        names = (name for answer in self._answers.values() for name in answer.awaited_servers)
        return tuple(dict.fromkeys(names))

    # Asking

    def ask(
        self,
        turn: Turn,
        answer_start: str | tuple[int, ...] = (),
        way_number: int = 0,
        options: ChatOptions | None = None,
        way_name: str = "",
        parent: RunningAnswer | None = None,
        is_by_hand: bool = False,
    ) -> RunningAnswer:
        """For `turn`, which is at the end and has no text but that of its start. The chat keeps its model.

        `parent` is the answer that hands it out as a task.
        """
        self._chat.model_path = self._engine.address
        turn.state, turn.notice, turn.overflowed = TurnState.STREAMING, "", False
        turn.summary = None  # it says nothing of what follows
        before = turn.usage if answer_start else NO_USAGE
        answer = RunningAnswer(turn, before, way_number=way_number, options=options, way_name=way_name)
        answer.thought_before_s, answer.is_by_hand = turn.thinking_s, is_by_hand
        if parent:
            answer.task_end = asyncio.get_running_loop().create_future()
            answer.task_depth = parent.task_depth + 1
        if turn.text and turn.model:
            answer.model_before = turn.model
        else:
            turn.model = self._answerer(answer)
        answer.rounds = self._rounds(answer)
        answer.rounds.begin_part(turn.text)
        waits_for_shelf = not self._shelf.is_ready() or self._shelf.wants_passages(self._searched_for(answer))
        if self._tools.is_ready() and not waits_for_shelf:
            self._begin(answer, answer_start)
        else:
            answer.awaited_servers = self._tools.missing()
            self._answers[uuid.uuid4().hex] = answer  # from now on it can be stopped
            self.changed.emit(turn)
            spawn(self._begin_when_ready(answer, answer_start))
        return answer

    async def _begin_when_ready(self, answer: RunningAnswer, answer_start: str | tuple[int, ...]) -> None:
        """Servers that were chosen are starting: without them the model would know nothing of their tools.

        Or the shelf is not known yet, or is to be searched.
        """
        await self._tools.prepare()
        answer.awaited_servers = ()
        await self._shelf.prepare()
        await self._add_passages(self._searched_for(answer))
        if isValid(self) and any(one is answer for one in self._answers.values()):
            self._begin(answer, answer_start)

    def _question_of(self, answer: Turn) -> Turn | None:
        return next((turn for turn in reversed(self._chat.turns) if turn.id == answer.parent_id), None)

    def _searched_for(self, answer: RunningAnswer) -> Turn | None:
        """The message that passages come with. Tasks are told what they need, and begin with one prompt."""
        return None if answer.task_end or answer.is_by_hand else self._question_of(answer.turn)

    async def _add_passages(self, question: Turn | None) -> None:
        if question is None or not self._shelf.wants_passages(question):
            return
        found = await self._shelf.found_for(question.text)
        if found and isValid(self) and not has_passages(question.attachments):
            question.attachments = (*question.attachments, *found)
            self.changed.emit(question)

    def _begin(self, answer: RunningAnswer, answer_start: str | tuple[int, ...]) -> None:
        answer.turn.notice = self._missing_notice()
        hand_out = partial(self._hand_out, answer)
        answer.rounds.offer(self._tools.offered(hand_out))
        if answer.is_by_hand:
            self._answers = {key: one for key, one in self._answers.items() if one is not answer}
            self._answers[uuid.uuid4().hex] = answer
            answer.rounds.run_by_hand(delegate_tool(), hand_out)
        else:
            self._ask_for_part(answer, answer_start)

    def _missing_notice(self) -> str:
        names = ", ".join(self._tools.missing())
        if not names:
            return ""
        return said("Asked without the tools of {servers}, which had not started.", servers=names)

    def _ask_for_part(self, answer: RunningAnswer, answer_start: str | tuple[int, ...] = ()) -> None:
        """In the place of the part before."""
        tools = answer.rounds.tools
        request = self._request_for(answer, answer_start, tools)
        if answer.task_end:
            request = replace(request, max_tokens=min(request.max_tokens or MAX_TOKENS, MAX_TOKENS))
        answer.num_summed_up = request.num_summed_up
        if answer.way_number:  # beside the others, in a sequence of its own
            request = replace(request, chat_id=self._chat_id_of(answer), keep_cells=bool(tools))
        self._answers = {
            request.request_id if one is answer else key: one for key, one in self._answers.items()
        } | {request.request_id: answer}
        self.changed.emit(answer.turn)
        self._send_request(request)

    def _send_request(self, request: Request) -> None:
        spawn(self._submit_when_saved(request))

    def _request_for(
        self, answer: RunningAnswer, answer_start: str | tuple[int, ...], tools: Iterable[Tool]
    ) -> Request:
        """As the chat asks, or as it would with the options of this answer."""
        chat = self._chat
        if answer.options:
            chat = copy.copy(chat)
            answer.options.apply_to(chat)
        messages = (*chat.messages(len(chat.turns) - 1), *answer.turn.round_messages)
        request = self._make_request(messages, answer_start, tools)
        model = self._engine.model_at(answer.model_address)
        return replace(request, **self._limits.of_request(chat, model)) if answer.options else request

    async def _submit_when_saved(self, request: Request) -> None:
        await self._save()
        self._submit(await self._media.filled(request))

    def _submit(self, request: Request) -> None:
        """Unless it was stopped meanwhile."""
        answer = self._answers.get(request.request_id)
        if answer and not answer.is_submitted:
            answer.is_submitted = True
            self._engine.post(Submit(request), answer.model_address)

    # Growing

    def apply(self, *outputs: Output) -> None:
        """Takes what the engine made, of one request; outputs of earlier requests are ignored."""
        if answer := self._answers.get(outputs[-1].request_id):
            answer.take(outputs, self._answerer(answer, outputs[0].model))

    def _rounds(self, answer: RunningAnswer) -> ToolRounds:
        listener = Listener(
            show=answer.show,
            grew=partial(self.grew.emit, answer.turn),
            changed=partial(self.changed.emit, answer.turn),
            went_on=partial(self._go_on_after_calls, answer),
            ended=partial(self._end, answer),
            ran=partial(self._note_tool, answer),
            num_told=self._tools.num_told,
        )
        return self._tools.rounds(answer.turn, listener, MAX_ROUNDS if answer.task_end else None)

    def _go_on_after_calls(self, answer: RunningAnswer) -> None:
        answer.begin_part()
        self._ask_for_part(answer)

    def _note_tool(self, answer: RunningAnswer, tool: str, seconds: float) -> None:
        """For the inspector: the engine knows the sequence, and what else happened then."""
        self._engine.post(NoteTool(self._chat_id_of(answer), tool, seconds))

    def _answerer(self, answer: RunningAnswer, told: str = "") -> str:
        """The model, as it was `told` or asked, and what it was asked with if that is not the chat's own."""
        model = self._engine.model_at(answer.model_address or self._engine.address)
        title = told or (model.title if model else title_of(name_at(answer.model_address)))
        return " · ".join(filter(None, (title, answer.way_name)))

    def _chat_id_of(self, answer: RunningAnswer) -> str:
        kind = TASK if answer.task_end else ""
        return f"{self._chat.id}{WAY}{kind}{answer.way_number}" if answer.way_number else self._chat.id

    def _cite(self, answer: RunningAnswer, last: Output, numbers: Iterable[int]) -> None:
        """The answer goes on with the number of the passage it is from: small models seldom write it unasked.

        Its cells are all there, so that costs some two tokens.
        """
        turn, options = answer.turn, answer.options or ChatOptions.of(self._chat)
        answer.whole = turn.text, turn.reading, last
        answer.usage_before, answer.is_submitted = turn.usage, False
        sampling = {**options.sampling, "grammar": citation_grammar(numbers), "temperature": 0.0}
        answer.options = replace(options, sampling=sampling, max_tokens=MAX_CITATION_TOKENS)
        tools = self._tools.offered()
        answer.rounds = self._rounds(answer)
        answer.rounds.offer(tools)
        start = before_citation(turn.text)
        answer.rounds.begin_part(start)
        self._ask_for_part(answer, start)

    # Tasks

    async def _hand_out(self, parent: RunningAnswer, use: ToolUse, arguments: dict[str, Any]) -> str:
        """What came of the tasks, all of which are worked on at once. Raises ToolError."""
        if parent.task_depth >= self._tools.max_task_depth:
            raise ToolError("A task cannot hand out tasks of its own. Do it yourself.")
        try:
            tasks = tasks_in(arguments)
        except ValueError as error:
            raise ToolError(str(error)) from error
        if len(tasks) + sum(one.task_end is not None for one in self._answers.values()) > MAX_RUNNING:
            raise ToolError("Too many tasks are being worked on. Hand out fewer of them.")
        turns = task_turns(parent.turn, use, tasks)
        first = 1 + max(one.way_number for one in self._answers.values())
        answers = []
        for number, turn in enumerate(turns, first):
            self._chat.add_aside(turn)
            answers.append(self.ask(turn, (), number, parent.options, parent.way_name, parent))
        results = [""] * len(turns)

        async def note(number: int) -> None:
            end, turn = answers[number].task_end, turns[number]
            assert end
            await end
            limit = await self._tools.num_told(turn.split.answer, len(turns) + 1)  # one for their names
            results[number] = result_of(turn, limit)
            use.result = results_as_text(tasks, results, are_all=False)  # should the call be stopped
            self.changed.emit(parent.turn)

        try:
            async with asyncio.timeout(MAX_SECONDS):
                await asyncio.gather(*map(note, range(len(turns))))
        except TimeoutError:
            results = [one or TOO_LATE for one in results]
        finally:
            for turn in turns:
                self.stop(turn)
        return results_as_text(tasks, results)

    # The end

    def stop(self, turn: Turn | None = None) -> None:
        """Aborts all, or this one. They end through the engine's reports, with the text they have so far."""
        for request_id, answer in tuple(self._answers.items()):
            if turn and answer.turn is not turn:
                continue
            if answer.is_submitted:
                self._engine.post(Abort(request_id))
            else:
                self._abort_here(request_id)

    def close(self) -> None:
        """Ends all at once, without waiting for their last outputs."""
        for request_id in self.request_ids:
            self._abort_here(request_id)

    def _abort_here(self, request_id: str) -> None:
        """Without the engine."""
        self.apply(Output(request_id, self._chat.id, finish_reason=FinishReason.ABORT))

    def _end(self, answer: RunningAnswer, last: Output) -> None:
        if answer.whole:
            text, reading, last = answer.whole
            if not ends_in_citation(answer.turn.text):  # it was stopped or failed
                answer.turn.text, answer.turn.reading = text, reading
        elif numbers := self._shelf.uncited_by(self._question_of(answer.turn), answer.turn, last):
            self._cite(answer, last, numbers)
            return
        self._answers = {key: one for key, one in self._answers.items() if one is not answer}
        if answer.way_number and answer.rounds.tools:
            self._engine.post(Forget(self._chat_id_of(answer)))
        if answer.task_end:
            self.task_ended.emit(answer.turn, last)
            if not answer.task_end.done():  # the call was stopped meanwhile
                answer.task_end.set_result(None)
        else:
            self.ended.emit(answer.turn, last)
