"""Chats that stream into a real database until somebody kills the process.

`python -m tests.bridge.streaming CHATS_FILE NUM_TABS TOKENS_PER_S HELD_S`: the real workspace and store, and
an engine that invents tokens. Once in two seconds the loop is held up for HELD_S. Prints a line for each
thing that the user has seen, with the time of a clock that all processes share.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer

from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.report_router import ReportRouter
from app.bridge.tasks import QtLoop
from app.bridge.workspace import Workspace
from app.chats.chat import Turn
from app.protocol.commands import Command, Submit
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.request import Request
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from tests.bridge.conftest import ScriptedThread

TITLE = "tab "


def question(tab: int, number: int) -> str:
    return f"question {number} of tab {tab}"


def token(number: int, index: int) -> str:
    return f"{number}.{index} "


def answer(number: int, num_tokens: int) -> str:
    return "".join(token(number, index) for index in range(num_tokens))


def tell(*words: object) -> None:
    """One write for each line: what was told before a kill has reached the pipe."""
    os.write(1, (" ".join(map(str, words)) + f" {time.monotonic():.6f}\n").encode())


class Tab:
    """Asks, sees the answer grow, and asks again."""

    def __init__(self, index: int, session: ChatSession, chance: random.Random) -> None:
        self._index = index
        self._session = session
        self._chance = chance
        self._number = -1
        self._num_tokens = 0
        self._wanted = 0
        self._request: Request | None = None
        session.rename(f"{TITLE}{index}")
        session.grew.connect(self._on_grew)
        session.finished.connect(self._on_finished)

    def ask(self) -> None:
        self._number += 1
        self._num_tokens, self._wanted = 0, self._chance.randint(20, 200)
        self._session.send(question(self._index, self._number))

    def on_asked(self, request: Request) -> None:
        """The engine has seen it."""
        self._request = request
        tell("asked", self._index, self._number)

    def step(self, thread: ScriptedThread) -> None:
        if self._request is None:
            return
        text = token(self._number, self._num_tokens)
        self._num_tokens += 1
        is_last = self._num_tokens == self._wanted
        request, self._request = self._request, None if is_last else self._request
        thread.answer(request, text, FinishReason.STOP if is_last else None)

    def _on_grew(self, _answer: Turn) -> None:
        tell("shown", self._index, self._number, self._num_tokens)

    def _on_finished(self, _answer: Turn) -> None:
        tell("finished", self._index, self._number, self._num_tokens)
        self.ask()


class TalkingThread(ScriptedThread):
    """Tells each tab that its question has arrived."""

    tabs: dict[str, Tab]

    def post(self, command: Command) -> None:
        if isinstance(command, Submit):
            self.tabs[command.request.chat_id].on_asked(command.request)


HOLD_EVERY_MS = 2_000


def hold_up(seconds: float) -> None:
    """As a long message does that is being laid out."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


async def stream(path: Path, num_tabs: int, tokens_per_s: float, held_s: float) -> None:
    threads: list[TalkingThread] = []

    def make_thread(params: LoadParams, parent: Engines) -> TalkingThread:
        threads.append(TalkingThread(params, parent))
        return threads[-1]

    engine = Engines(make_thread=make_thread)  # type: ignore[arg-type]
    store = ChatStore(path)
    notice = await store.open()
    assert notice == "", notice
    workspace = Workspace(engine, store, Settings())
    router = ReportRouter(engine, workspace, workspace)
    engine.load(LoadParams(Path("none.gguf")))
    (thread,) = threads
    thread.finish_loading()
    sessions = [workspace.new_chat() for _ in range(num_tabs)]
    tabs = [Tab(index, session, random.Random(index)) for index, session in enumerate(sessions)]
    thread.tabs = {session.chat.id: tab for session, tab in zip(sessions, tabs, strict=True)}
    timers = [QTimer(interval=round(1000 / tokens_per_s)) for _ in tabs]
    for tab, timer in zip(tabs, timers, strict=True):
        timer.timeout.connect(partial(tab.step, thread))
        timer.start()
        tab.ask()
    holding = QTimer(interval=HOLD_EVERY_MS)
    holding.timeout.connect(partial(hold_up, held_s))
    holding.start()
    tell("ready")
    await asyncio.Event().wait()
    del router


def main() -> None:
    path, num_tabs = Path(sys.argv[1]), int(sys.argv[2])
    tokens_per_s, held_s = float(sys.argv[3]), float(sys.argv[4])
    application = QCoreApplication([])
    with asyncio.Runner(loop_factory=lambda: QtLoop(application)) as runner:
        runner.run(stream(path, num_tabs, tokens_per_s, held_s))


if __name__ == "__main__":
    main()
