"""One answer while it is written: read as thinking, text and calls of tools, which are allowed and run.

Knows no engine and no chat: the session asks for the next part once the results are there. GUI thread.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from app.bridge.tasks import spawn
from app.bridge.tool_access import ToolAccess
from app.bridge.tool_permits import ToolPermits
from app.chats.attachment import valid_unicode
from app.chats.chat import Turn
from app.chats.thinking import Split, split_thinking
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.errors import RequestError
from app.protocol.output import AnswerMessage, FinishReason, MessageDelta, Output, ToolCall, new_call_id
from app.system.said import said
from app.tools.tool import Approval, Tool, ToolError, read_arguments
from app.tools.written_call import written_call

log = logging.getLogger(__name__)

MAX_CALLS = 32  # of a round; what a model writes beyond is not run
MAX_SAME_FAILURES = 3  # in a row
MAX_KEPT_CHARS = 250_000  # of a result; all of an answer is saved again with each of its words
BROKEN_OFF = (FinishReason.ABORT, FinishReason.ERROR)
# What the model is told.
FORBIDDEN = "The user does not allow this tool."
FAILED = "The tool failed."
LIMIT_REACHED = "The call was not run: the answer had reached its limit of rounds."


Run = Callable[[ToolUse, dict[str, Any]], Coroutine[Any, Any, str]]


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """`run` calls it, and raises ToolError. One of Skein's own parts needs no permission.

    `resolve` is of a tool that calls others: which one with which arguments, or ToolError.
    """

    tool: Tool
    run: Run
    needs_permission: bool = True
    resolve: Callable[[dict[str, Any]], tuple["OfferedTool", dict[str, Any]]] | None = None


@dataclass(frozen=True, slots=True)
class Listener:
    """What the session does with what it is told."""

    show: Callable[[str, Split | None], object]  # the part so far, as `Turn` has it
    grew: Callable[[], object]
    changed: Callable[[], object]
    went_on: Callable[[], object]  # all results are there: ask for the next part, and call `begin_part`
    ended: Callable[[Output], object]  # no other part follows
    ran: Callable[[str, float], object]  # a tool, for so many seconds
    num_told: Callable[[str], Awaitable[int | None]]  # characters of a result that are told; None: all


class ToolRounds:
    def __init__(
        self,
        turn: Turn,
        access: ToolAccess,
        permits: ToolPermits,
        max_rounds: int,
        listener: Listener,
    ) -> None:
        self._turn = turn
        self._offered: dict[str, OfferedTool] = {}
        self._by_hand: dict[str, OfferedTool] = {}
        self._access, self._permits, self._listener = access, permits, listener
        self._num_left = max_rounds
        self._work: asyncio.Task[None] | None = None  # that reads, or runs calls
        self._began: dict[int, tuple[str, float]] = {}  # which tool each call has run, and when
        self._is_over = False
        self._reader = access.readers.open(MAX_CALLS)
        self.begin_part()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The same for all parts: a change would have the whole prompt computed again."""
        return tuple(one.tool for one in self._offered.values())

    def offer(self, tools: Iterable[OfferedTool]) -> None:
        """To the model, in all parts. Before the first of them."""
        self._offered = {one.tool.name: one for one in tools}

    def begin_part(self, start: str = "") -> None:
        """A part is asked for, which begins with the text `start`."""
        self._reader.close()
        self._reader = self._access.readers.open(MAX_CALLS)
        self._message = self._as_text = AnswerMessage()
        self._text = start
        self._num_read = self._num_shown = 0  # characters of it that the reader was given, and has told
        self._last: Output | None = None
        self._round: ToolRound | None = None  # that this part has become with its first call

    def run_by_hand(self, tool: Tool, run: Run) -> None:
        """The answer begins with a call that the user made, of a tool that the model need not know."""
        (self._round,) = self._turn.rounds
        self._last = Output("", "", finish_reason=FinishReason.STOP)
        self._by_hand = {tool.name: OfferedTool(tool, run, needs_permission=False)}
        self._work = spawn(self._run(self._round))

    # The model writes

    def take(self, outputs: tuple[Output, ...]) -> None:
        """Where the model's way of writing is known, it is read on another thread.

        An answer that is broken off ends at once.
        """
        if self._is_over:
            return
        for output in outputs:
            if output.format and not self._reader.has_format:
                self._reader.note_format(output.format)
            self._text += output.text
        last = outputs[-1]
        self._last = last if last.finish_reason else None
        is_plain = self._work is None and not self._reader.has_format
        if is_plain:
            self._show(self._told(outputs) or self._unread(), self._text)
        if last.finish_reason in BROKEN_OFF:
            self._break_off(last)
        elif not is_plain:
            self._work = self._work or spawn(self._read())
        elif self._last:
            self._end_part(self._last)

    async def _read(self) -> None:
        while self._num_read < len(self._text) or self._last:
            text, last = self._text, self._last
            try:
                delta = await self._reader.read(self._unread().content, is_last=last is not None)
            except RequestError as error:
                log.warning("The rest of an answer is shown as it was written: %s", error)
                delta, self._reader = MessageDelta(), self._access.readers.open()
                if self._round is None:
                    self._message, delta = AnswerMessage(), MessageDelta(text)
            if self._is_over:
                return
            self._show(delta, text)
            if last:
                self._end_part(last)
                return
        self._work = None

    def _told(self, outputs: tuple[Output, ...]) -> MessageDelta | None:
        """What a server has read in its answer, and in what that began with. None: it is read here."""
        deltas = [output.delta for output in outputs if output.delta]
        if not deltas:
            return None
        num_new = sum(len(output.text) for output in outputs)
        begun = split_thinking(self._text[self._num_read : len(self._text) - num_new])
        self._num_read = len(self._text)
        return sum(deltas, MessageDelta(begun.answer, begun.thinking))

    def _unread(self) -> MessageDelta:
        """As text, which it is unless a reader finds more in it."""
        unread, self._num_read = self._text[self._num_read :], len(self._text)
        return MessageDelta(unread)

    def _show(self, delta: MessageDelta, text: str) -> None:
        """`text` is what was read so far. Its end, which may become a call, is not shown yet."""
        self._message = self._message.grown(delta)
        if delta != MessageDelta():
            self._num_shown = len(text)
        if self._message.tool_calls:
            self._show_calls(text)
        elif delta.content or delta.reasoning:
            self._listener.show(text, self._reading)
            self._listener.grew()

    @property
    def _reading(self) -> Split:
        """What the reader calls text may have thinking in it, with marks that the template does not name."""
        content, reasoning = valid_unicode(self._message.content), valid_unicode(self._message.reasoning)
        if reasoning:
            return Split(reasoning.strip(), content.lstrip(), is_thinking=not content)
        return split_thinking(content, is_growing=True)

    def _show_calls(self, text: str) -> None:
        is_new = self._round is None or len(self._round.uses) < len(self._message.tool_calls)
        if self._round is None:
            self._round = ToolRound(thinking_s=self._turn.thinking_s)
            self._turn.rounds.append(self._round)
            self._turn.text, self._turn.reading, self._turn.thinking_s = "", None, 0.0
        round_ = self._round
        round_.text = text
        round_.content = valid_unicode(self._message.content)
        round_.reasoning = valid_unicode(self._message.reasoning)
        for index, call in enumerate(self._message.tool_calls):
            if index == len(round_.uses):
                round_.uses.append(ToolUse(valid_unicode(call.id), valid_unicode(call.name)))
            round_.uses[index].arguments = valid_unicode(call.arguments)
        if is_new:
            self._listener.changed()
        else:
            self._listener.grew()

    def _show_whole(self) -> None:
        """What is not read any more belongs to what was being written."""
        if not self._num_shown and self._text == self._turn.text:
            return  # it was not begun
        reading, unread = self._reading, self._text[self._num_shown :]
        if split_thinking(self._text[: self._num_shown], is_growing=True).says_the_same(reading):
            self._listener.show(self._text, None)
        elif reading.is_thinking:
            self._listener.show(self._text, replace(reading, thinking=reading.thinking + unread))
        else:
            self._listener.show(self._text, replace(reading, answer=reading.answer + unread))

    def _end_part(self, last: Output) -> None:
        if self._round is None and last.finish_reason is FinishReason.STOP:
            self._take_text_as_call()
        round_ = self._round
        if round_ is None:
            self._show_whole()
            self._end(last)
            return
        round_.text, round_.usage = self._text, self._turn.usage
        round_.is_whole = last.finish_reason is FinishReason.STOP
        if round_.is_whole:
            self._work = spawn(self._run(round_))
        else:  # at a limit, perhaps within a call
            round_.stop()
            self._end(last)

    # Its calls

    def _take_text_as_call(self) -> None:
        """Where the model wrote a call of an offered tool as text, and nothing behind it."""
        reading = self._reading
        schemas = {name: one.tool.parameters for name, one in self._offered.items()}
        if found := written_call(reading.answer, schemas):
            call = ToolCall(new_call_id(), found.name, found.arguments)
            self._as_text = self._message
            self._message = AnswerMessage(found.before, reading.thinking, (call,))
            self._show_calls(self._text)
            assert self._round
            self._round.uses[0].is_text = not self._permits.takes_text(self._turn.model)

    async def _run(self, round_: ToolRound) -> None:
        if self._num_left == 0:
            self._end_at_limit(round_)
            return
        self._num_left -= 1
        await asyncio.gather(*map(self._call, round_.uses))
        if self._is_over:
            return
        self._work = None
        if round_.uses[0].is_text and round_.uses[0].state is ToolState.REFUSED:
            self._end_as_text(round_)
        elif _goes_in_circles(self._turn.rounds):
            self._stop(said("The answer was stopped: the model went on with a call that fails."))
        else:
            self._listener.went_on()

    def _end_as_text(self, round_: ToolRound) -> None:
        """It was no call: the answer is its text."""
        assert self._last
        self._turn.rounds.remove(round_)
        self._message, self._round = self._as_text, None
        self._show_whole()
        self._turn.thinking_s = round_.thinking_s
        self._end(self._last)

    def _end_at_limit(self, round_: ToolRound) -> None:
        for use in round_.uses:
            use.state, use.result = ToolState.FAILED, LIMIT_REACHED
        self._stop(said("The answer was stopped: it reached the maximum number of tool rounds in Settings."))

    def _stop(self, notice: str) -> None:
        assert self._last
        self._end(replace(self._last, text="", finish_reason=FinishReason.ABORT, notice=notice))

    async def _call(self, use: ToolUse) -> None:
        """Nothing that a tool does ends more than its call."""
        try:
            offered = self._by_hand.pop(use.tool, None) or self._offered.get(use.tool)
            if offered is None:
                raise ToolError(f"There is no tool {use.tool}. There are: {', '.join(self._offered)}.")
            arguments = read_arguments(use.arguments, offered.tool.parameters)
            if offered.resolve:
                offered, arguments = offered.resolve(arguments)
            if offered.needs_permission and not await self._is_allowed(use, offered.tool):
                self._set(use, ToolState.REFUSED)
                return
            self._began[id(use)] = (offered.tool.name, monotonic())
            self._set(use, ToolState.RUNNING)
            result = valid_unicode(await offered.run(use, arguments))[:MAX_KEPT_CHARS]
            self._note_time(use)
            if offered.needs_permission:  # Skein's own parts know how much to tell
                use.num_told = await self._listener.num_told(result)
            self._set(use, ToolState.DONE, result)
        except ToolError as error:
            self._set(use, ToolState.FAILED, valid_unicode(str(error)))
        except Exception:  # of a tool; the answer goes on
            log.exception("The tool %s failed.", use.tool)
            self._set(use, ToolState.FAILED, FAILED)

    async def _is_allowed(self, use: ToolUse, tool: Tool) -> bool:
        approval = self._permits.of(tool)
        if approval is Approval.NEVER:
            raise ToolError(FORBIDDEN)
        if approval is Approval.ALWAYS and not use.is_text:
            return True
        self._set(use, ToolState.ASKING)
        return await self._permits.ask(use, tool, self._turn.model)

    def _set(self, use: ToolUse, state: ToolState, result: str = "") -> None:
        if not self._is_over:  # a tool that goes on after it was cancelled is too late
            self._note_time(use)
            use.state, use.result = state, result
            self._listener.changed()

    def _note_time(self, use: ToolUse) -> None:
        if use.state is ToolState.RUNNING and not use.seconds and not self._is_over:
            name, began = self._began[id(use)]
            use.seconds = monotonic() - began
            self._listener.ran(name, use.seconds)

    # The end

    def _break_off(self, last: Output) -> None:
        """By the user, or because the engine failed: while it was written, or while calls run."""
        if self._work:
            self._work.cancel()
        if self._round is None:
            self._show_whole()
        elif not self._round.is_whole:
            self._round.text = self._text
        if self._round:
            for use in self._round.uses:
                self._note_time(use)
            self._round.stop()
        self._end(last)

    def _end(self, last: Output) -> None:
        self._is_over = True
        self._reader.close()
        self._listener.ended(last)


def _goes_in_circles(rounds: list[ToolRound]) -> bool:
    """Its last rounds are the same calls, which failed alike: a small model would go on for ever."""
    last = rounds[-MAX_SAME_FAILURES:]
    calls = [[(use.tool, use.arguments, use.result) for use in one.uses] for one in last]
    has_failed = all(use.state is ToolState.FAILED for one in last for use in one.uses)
    return len(last) == MAX_SAME_FAILURES and has_failed and all(one == calls[0] for one in calls)
