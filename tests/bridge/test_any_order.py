"""Whatever the order of words, decisions, results and stops: an answer with calls ends in a true state.

True means: nothing is called twice or without leave, what ended stays as it was, a chat that is not busy has
nothing that runs, and the model is told one result for each call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as running
from hypothesis import strategies as st

from app.bridge.chat_session import ChatSession
from app.bridge.workspace import Workspace
from app.chats.chat import TurnState
from app.chats.tool_use import Decision, ToolState, ToolUse
from app.protocol.output import FinishReason, Output
from app.protocol.request import Role
from app.settings.settings import Settings
from app.tools.tool import ToolError
from tests.bridge.conftest import ScriptedThread
from tests.bridge.tool_fakes import FORMAT, FakeKit, FakeReaders, tool

WORDS = [
    "Hm. ",
    '«look {"city": "A"}»',
    '«look {"city": "A"}»',
    "«clock {}»",
    "«clock {}»",
    "«fly {}»",
    "«look {",
    '"city": "B"}»',
]
STOP = FinishReason.STOP
ENDINGS = [*[STOP] * 7, FinishReason.LENGTH, FinishReason.ABORT, FinishReason.ERROR]
STEPS = st.tuples(st.integers(0, 1000), st.booleans())  # which of what can happen, and whether all else rests

ENDED = {ToolState.DONE, ToolState.FAILED, ToolState.REFUSED, ToolState.STOPPED}


@dataclass
class World:
    session: ChatSession
    thread: ScriptedThread
    kit: FakeKit
    last_told: set[str] = field(default_factory=set)  # requests that had their last output
    ended: dict[int, tuple[ToolUse, ToolUse]] = field(default_factory=dict)  # the use, and a copy

    @property
    def uses(self) -> list[ToolUse]:
        turns = self.session.chat.all_turns()
        return [use for turn in turns for round_ in turn.rounds for use in round_.uses]

    def possible(self) -> list[Callable[[], object]]:
        session, kit = self.session, self.kit
        asking = [use for use in self.uses if use.state is ToolState.ASKING]
        can = [session.stop]
        if self.is_open:
            can += [partial(self.report, word, None) for word in WORDS]
            can += [partial(self.report, "", reason) for reason in ENDINGS]
        can += [partial(session.decide, use, decision) for use in asking for decision in Decision]
        can += [partial(kit.finish, "Rain.", index) for index in self.unfinished] * 3
        can += [partial(kit.finish, ToolError("No."), index) for index in self.unfinished]
        if not session.is_busy:
            can += [session.continue_answer, session.regenerate]
        if not session.queue:
            can += [partial(session.send, "Go")]
        return can

    @property
    def unfinished(self) -> list[int]:
        """Indices of the calls that run, and were not told to end."""
        return [index for index, (_, _, future) in enumerate(self.kit.running) if not future.done()]

    @property
    def is_open(self) -> bool:
        """The engine is at work on the answer."""
        submitted = self.thread.submitted
        return (
            bool(submitted)
            and self.session.answers.turn_of(submitted[-1].request_id) is not None
            and not self.is_ended
        )

    @property
    def is_ended(self) -> bool:
        return self.thread.submitted[-1].request_id in self.last_told

    def report(self, text: str, reason: FinishReason | None) -> None:
        request = self.thread.submitted[-1]
        if reason:
            self.last_told.add(request.request_id)
        self.thread.report(Output(request.request_id, request.chat_id, text, reason, format=FORMAT))

    def check(self) -> None:
        session = self.session
        assert len(self.unfinished) <= sum(use.state is ToolState.RUNNING for use in self.uses)
        for key, (use, copy) in self.ended.items():
            assert key == id(use)
            assert use == copy, "what had ended has changed"
        for turn in session.chat.all_turns():
            is_open = turn.state is TurnState.STREAMING
            for round_ in turn.rounds[: -1 if is_open else None]:
                assert all(use.state in ENDED for use in round_.uses)
                for use in round_.uses:
                    self.ended.setdefault(id(use), (use, ToolUse(**vars_of(use))))
            assert all(round_.uses for round_ in turn.rounds)
        if not session.is_busy:
            assert all(turn.state is not TurnState.STREAMING for turn in session.chat.all_turns())
        self.check_messages()

    def check_messages(self) -> None:
        """Each call has one result behind it, in the same order."""
        waiting: list[str] = []
        for message in self.session.chat.messages():
            if message.role is Role.TOOL:
                assert json.loads(message.fields)["tool_call_id"] == waiting.pop(0)
                assert message.content
            else:
                assert not waiting
                calls = json.loads(message.fields)["tool_calls"] if message.fields else []
                waiting = [call["id"] for call in calls]
        assert not waiting


def vars_of(use: ToolUse) -> dict[str, object]:
    return {name: getattr(use, name) for name in ToolUse.__slots__}


@pytest.fixture
def world(workspace: Workspace, load, settings: Settings):
    thread = load("starter.gguf")

    def open_world() -> World:
        kit = FakeKit(tool("look", "city"), tool("clock"))
        workspace.tools.kit, workspace.tools.readers = kit, FakeReaders()
        settings.max_tool_rounds = 2
        thread.submitted.clear()
        session = workspace.new_chat()
        session.set_tools(["fake/*"])
        return World(session, thread, kit)

    return open_world


async def settle() -> None:
    for _turn in range(20):
        await asyncio.sleep(0)


@running(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=5, max_size=60))
def test_an_answer_with_calls_ends_in_a_true_state(qloop, world, workspace, steps) -> None:
    async def live() -> None:
        here = world()
        here.session.send("Go")
        for number, rests in steps:
            can = here.possible()
            can[number % len(can)]()
            if rests:
                await settle()
            here.check()
        workspace.discard(here.session.chat.id)
        assert not here.session.is_busy
        assert all(use.state in ENDED for use in here.uses)
        await settle()
        here.check()
        assert not here.kit.running
        assert here.kit.num_called <= len(here.uses)

    qloop.run_until_complete(live())
