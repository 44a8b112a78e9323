"""Has the earlier turns of one chat summed up by its model, in a fork of the chat's sequence. GUI thread.

The turns are in the cells already: only the question is computed, and the summary. The chat can go on
meanwhile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.bridge.chat_limits import ChatLimits
from app.bridge.chat_requests import ChatRequests
from app.bridge.chat_tools import ChatTools
from app.bridge.engines import ChatEngine
from app.bridge.media_files import MediaFiles
from app.bridge.tasks import spawn
from app.bridge.tool_rounds import Listener, ToolRounds
from app.chats.chat import Chat, Turn, TurnState
from app.chats.summary import MAX_TOKENS, Summary, checked, max_tokens, unrepeated, wish
from app.chats.thinking import Split, split_thinking
from app.protocol.commands import Abort, Submit
from app.protocol.output import NO_USAGE, FinishReason, Output
from app.protocol.request import SUMMARY, WAY, Request, Role
from app.protocol.sampling import SamplingParams
from app.system.said import said, together
from app.tools.written_call import written_call

ROOM_TOKENS = 192  # of the question, and of what the template writes around it
LEAST_SHARE = 1 / 8  # of the tokens that are summed up: room that there must be for the summary
AGAIN = 0.4  # the temperature of another try: other words, but of the same chat
CHARS_PER_TOKEN = 3  # of turns that were never part of a prompt
NOT_WRITTEN = said("Earlier messages could not be summed up.")
WANTED_TOOL = said("The model wanted to call a tool instead.")


class SummaryWriter(QObject):
    grew = Signal(object)  # the Turn whose summary is being written
    changed = Signal()  # one began, or was given up: there is nothing to save
    ended = Signal(object)  # the Turn: it has another summary, or one that was used and stays
    replaced = Signal(object, object)  # the Turn, its Summary before, which was used
    failed = Signal(object)  # why one that is used was not replaced

    def __init__(
        self,
        chat: Chat,
        engine: ChatEngine,
        limits: ChatLimits,
        requests: ChatRequests,
        tools: ChatTools,
        media: MediaFiles,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._chat, self._engine, self._limits = chat, engine, limits
        self._requests, self._tools, self._media = requests, tools, media
        self.turn: Turn | None = None  # whose summary is being written
        self._before: Summary | None = None  # that it had
        self._turn_text, self._is_again = "", False
        self._request_id = ""
        self._text, self._num_before = "", 0  # tokens up to its turn, if they are known
        self._is_looping = False  # it says the same again, so it is whole without that
        self.usage = NO_USAGE  # of the summary that was asked for last
        self._rounds: ToolRounds | None = None  # read the summary, as an answer is read
        self._schemas: dict[str, Mapping[str, Any]] = {}  # of the tools that were offered, by name

    @property
    def is_busy(self) -> bool:
        return self.turn is not None

    @property
    def has_new(self) -> bool:
        """There is an answer that is not summed up."""
        return any(map(_is_whole_answer, self._chat.turns[self._chat.num_summed_up() :]))

    def turn_for(self, turns: Sequence[Turn]) -> Turn | None:
        """The last of `turns` up to which there is something new to sum up, and room to do that."""
        room = (self._limits.room or math.inf) - ROOM_TOKENS
        fitting = first = None
        for turn, num_tokens in self._num_tokens_at(turns):
            if _is_whole_answer(turn):
                first = first or turn
                fitting = turn if num_tokens * (1 + LEAST_SHARE) <= room else fitting
        return fitting or first

    def _num_tokens_at(self, turns: Sequence[Turn], but: Turn | None = None) -> Iterator[tuple[Turn, int]]:
        """Each of the first `turns` that is not summed up, and the tokens of a prompt that ends with it.

        That is an estimate where none was computed. The summary of `but` does not count.
        """
        begin, num_chars = self._chat.num_summed_up(len(turns), but=but), 0
        for turn in turns[begin:]:
            usage = turn.usage
            num_chars += sum(len(message.content) for message in turn.messages)
            yield turn, usage.num_prompt_tokens + usage.num_generated_tokens or num_chars // CHARS_PER_TOKEN

    def write(self, turn: Turn, *, is_again: bool = False) -> None:
        """Sums up all turns up to this one. `is_again`: the model may find other words than the last time."""
        self.stop()
        end = self._chat.index_of(turn) + 1
        *_, (_turn, num_before) = self._num_tokens_at(self._chat.turns[:end], but=turn)
        room = (self._limits.room or MAX_TOKENS + num_before) - num_before - ROOM_TOKENS
        most = max_tokens(num_before, room)
        messages = self._chat.messages(end, but=turn)
        sampling = SamplingParams(temperature=AGAIN if is_again else 0.0)
        request = self._requests.aside(messages, wish(most), f"{WAY}{SUMMARY}", most, sampling=sampling)
        self.turn, self._before, self._turn_text = turn, turn.summary, turn.text
        self._is_again = is_again
        self._request_id = request.request_id
        self._num_before = turn.usage.num_prompt_tokens + turn.usage.num_generated_tokens
        self._text, self.usage, self._is_looping = "", NO_USAGE, False
        self._rounds = self._reader()
        self._schemas = {one.tool.name: one.tool.parameters for one in self._tools.offered()}
        turn.summary = self._so_far
        self.changed.emit()
        spawn(self._submit(request))

    async def _submit(self, request: Request) -> None:
        filled = await self._media.filled(request)
        if isValid(self) and self._request_id == request.request_id:
            self._engine.post(Submit(filled))

    def stop(self, trouble: str = "") -> None:
        """The turn has the summary that it had, or one that says what the `trouble` is."""
        if self.turn:
            self._engine.post(Abort(self._request_id))
            self.apply(Output(self._request_id, "", finish_reason=FinishReason.ABORT, notice=trouble))

    def apply(self, *outputs: Output) -> None:
        """Takes what the engine made, of one request; outputs of earlier requests are ignored."""
        if self._rounds and self.turn and outputs[-1].request_id == self._request_id:
            self.usage = next((one.usage for one in reversed(outputs) if one.usage != NO_USAGE), self.usage)
            self._rounds.take(outputs)
            if self.is_busy and unrepeated(self._text) != self._text:
                self._is_looping = True
                self.stop()

    def _reader(self) -> ToolRounds:
        """Reads it as any answer is read."""

        async def num_told(_result: str) -> int | None:
            return None

        listener = Listener(
            show=self._on_read,
            grew=lambda: None,
            changed=lambda: None,
            went_on=lambda: self.stop(WANTED_TOOL),
            ended=self._on_ended,
            ran=lambda _tool, _seconds: None,
            num_told=num_told,
        )
        return self._tools.rounds(Turn(Role.ASSISTANT, ""), listener)

    def _on_read(self, text: str, reading: Split | None) -> None:
        self._text = (reading or split_thinking(text)).answer
        if self.turn:
            self.turn.summary = self._so_far
            self.grew.emit(self.turn)

    def _on_ended(self, last: Output) -> None:
        turn, usage, notice = self.turn, self.usage, last.notice
        assert turn
        self.turn, self._request_id = None, ""
        turn.summary = self._before
        has_stayed = self._chat.shows(turn) and turn.text == self._turn_text
        if not has_stayed:  # it was removed, or has grown, meanwhile
            self.changed.emit()
            return
        match last.finish_reason:
            case FinishReason.ERROR if last.found_no_room and (earlier := self._earlier(turn)):
                self.write(earlier)
                return
            case FinishReason.ABORT if self._is_looping:
                self._text = unrepeated(self._text)
                trouble = checked(self._text, usage, is_cut=False)
            case FinishReason.ABORT if not notice:
                self.changed.emit()
                return
            case FinishReason.ERROR | FinishReason.ABORT:
                trouble = together(NOT_WRITTEN, notice)
            case _ if written_call(self._text, self._schemas):
                trouble = together(NOT_WRITTEN, WANTED_TOOL)
            case reason:
                trouble = checked(self._text, usage, is_cut=reason is FinishReason.LENGTH)
        former = turn.used_summary
        if not (trouble and former):  # rather the one before than none
            turn.summary = replace(
                self._so_far, notice=trouble, is_growing=False, former=None, created_at=time.time()
            )
        self.ended.emit(turn)
        if former and trouble:
            self.failed.emit(trouble)
        elif former:
            self.replaced.emit(turn, former)

    def _earlier(self, turn: Turn) -> Turn | None:
        """Half as many turns: all of them were too many. Not where the user means this very one."""
        if self._is_again:
            return None
        begin, end = self._chat.num_summed_up(but=turn), self._chat.index_of(turn)
        return self.turn_for(self._chat.turns[: (begin + end) // 2 + 1])

    @property
    def _so_far(self) -> Summary:
        model = self._engine.model
        return Summary(
            self._text.strip(),
            is_growing=True,
            former=self._before,
            model=model.title if model else "",
            num_tokens=self.usage.num_generated_tokens,
            num_replaced=self._num_before or self.usage.num_prompt_tokens,
        )


def _is_whole_answer(turn: Turn) -> bool:
    return turn.role is Role.ASSISTANT and turn.state is not TurnState.STREAMING and not turn.is_empty
