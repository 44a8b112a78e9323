"""What is left of a chat that was summed up: five facts of each, asked for with a real model.

Chats of thirty messages, inserted and not generated, are summed up. Then each fact is asked for in a new fork
of its chat, greedily: as Skein does, with the summary and what is found for the question in the messages that
it stands for; with the summary alone; with the summary and the tool `recall`; and, for comparison, with the
chat's last turns in a rolling window. That has as many tokens as the longest prompt with the summary
and its answer, rounded up to 1,024, so it always has more room than the summary. The facts are in the first
two thirds of the chat: this is about what a window has lost, and a window as long as the chat would lose
nothing.

The prompt that is summed up is computed for the summary here. In the window its cells are there already.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.chats.chat import Turn
from app.protocol.load import LoadParams
from app.protocol.output import Usage
from app.protocol.request import Overflow, Request
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from app.system import paths
from app.tools.server_config import RECALL
from tests.benchmarks.planted_chats import NUM_FACTS, Fact, PlantedChat, planted_chat

if TYPE_CHECKING:
    from app.bridge.chat_session import ChatSession
    from app.bridge.engines import Engines
    from app.bridge.workspace import Workspace

MODELS = Path("~/.cache/skein-real").expanduser()
NUM_AT_ONCE = 2  # chats; each asks for four of its facts at the same time
N_CTX, N_SEQ_MAX = 24_576, 12
ROUNDED = 1_024
MAX_TOKENS = 64  # of an answer, and of a call
SYSTEM_PROMPT = "You are a helpful assistant. Answer briefly."
WAYS = ("skein", "summary", "recall", "window")


@dataclass
class Case:
    planted: PlantedChat
    session: ChatSession
    usage: Usage = field(default_factory=Usage)  # of the summary
    is_used: bool = False  # else a chat would not use it, but here it is asked as it is
    summary_s: float = 0.0
    num_told: dict[str, int] = field(default_factory=dict)
    num_computed: dict[str, int] = field(default_factory=dict)  # tokens of all prompts
    num_longest: int = 0  # tokens of a prompt with the summary

    @property
    def turn(self) -> Turn:
        return self.session.chat.turns[-1]

    @property
    def window(self) -> int:
        return -(-(self.num_longest + MAX_TOKENS) // ROUNDED) * ROUNDED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="qwen-1.5b", help=f"a GGUF, or the name of one in {MODELS}")
    parser.add_argument("--threads", type=int, default=0, help="0: as Skein chooses")
    parser.add_argument("--chats", type=int, default=20, help="default: 20")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first chat; default: 0")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="default: all")
    parser.add_argument("--show", action="store_true", help="summaries, and the answers that are wrong")


def run(options: argparse.Namespace) -> int:
    path = Path(options.model).expanduser()
    path = path if path.suffix == ".gguf" else MODELS / f"{options.model}.gguf"
    if not path.is_file():
        print(
            f"There is no {path}. Save a chat model of one to two billion parameters there, such as "
            "Qwen2.5-Coder 1.5B Instruct Q4_K_M (1.1 GB, Hugging Face), or name another file with --model."
        )
        return 1
    os.environ["QT_QPA_PLATFORM"], os.environ["QT_API"] = "offscreen", "pyside6"
    from PySide6.QtWidgets import QApplication

    from app.bridge.tasks import QtLoop
    from tests.benchmarks.scripted_window import private_home

    application = QApplication.instance() or QApplication([])
    with private_home(), asyncio.Runner(loop_factory=lambda: QtLoop(application)) as runner:
        runner.run(_run(path, options))
    return 0


async def _run(path: Path, options: argparse.Namespace) -> None:
    from app.bridge.engines import Engines
    from app.bridge.report_router import ReportRouter
    from app.bridge.workspace import Workspace
    from app.services.preferences import Preferences
    from app.services.tools import ToolService
    from app.tools.tool import Approval

    engine, settings = Engines(), Settings(system_prompt=SYSTEM_PROMPT, overflow="stop")
    store = ChatStore(paths.chats_file())
    workspace = Workspace(engine, store, settings)
    ReportRouter(engine, workspace, workspace)
    tools = ToolService(store, Preferences(settings), paths.mcp_servers_file())
    workspace.tools.kit = tools
    engine.load(LoadParams(path, n_ctx=N_CTX, n_seq_max=N_SEQ_MAX, n_threads=options.threads))
    await _until(lambda: engine.model is not None)
    assert engine.model
    for tool in tools.built_in:
        tools.set_approval(tool, Approval.ALWAYS)
    tools.set_calls_in_text(engine.model.title)  # as a user allows it who has seen the first one
    print(f"{engine.model.title}, {options.chats} chats, {NUM_FACTS} facts in each")

    numbers = range(options.first, options.first + options.chats)
    cases = [await _case(workspace, engine, planted_chat(number)) for number in numbers]
    asker = Asker(workspace, options.show)
    begin = time.perf_counter()
    await _for_each(cases, asker.sum_up)
    _print_summaries(cases, time.perf_counter() - begin)
    for way in options.ways:
        begin = time.perf_counter()
        await _for_each(cases, partial(asker.ask_for_all, way=way))
        _print(way, cases, time.perf_counter() - begin)
    await workspace.stop_saving()
    await engine.close()
    await store.close()


async def _case(workspace: Workspace, engine: Engines, planted: PlantedChat) -> Case:
    """As if the model had answered: it is known how long the chat is."""
    session = workspace.new_chat()
    session.chat.sampling, session.chat.max_tokens = {"temperature": 0.0}, MAX_TOKENS
    for role, text in planted.messages:
        session.insert(role, text)
    whole = Request("", "", session.chat.messages())
    tokens = engine.use_prompts(lambda prompts: len(prompts.tokenize(prompts.render(whole))))
    session.chat.turns[-1].usage = Usage(num_prompt_tokens=await asyncio.wrap_future(tokens))
    return Case(planted, session)


class Asker:
    def __init__(self, workspace: Workspace, shows: bool) -> None:
        self._workspace, self._shows = workspace, shows

    async def sum_up(self, case: Case) -> None:
        begin, session = time.perf_counter(), case.session
        session.sum_up()
        await _until(lambda: not session.summaries.is_busy)
        case.usage, case.summary_s = session.summaries.usage, time.perf_counter() - begin
        summary = case.turn.summary
        assert summary
        case.is_used = summary.is_used
        session.set_summary(case.turn, summary.text)  # also one that was cut off is asked
        if self._shows:
            missing = [one.value for one in case.planted.facts if not one.is_told(summary.text)]
            print(f"--- {summary.notice or 'used'}; without {missing}\n{summary.text}\n", flush=True)

    async def ask_for_all(self, case: Case, way: str) -> None:
        """The first one alone: its prompt begins as those of the others do, and is there for them then."""
        forks: list[ChatSession] = []
        first, *others = case.planted.facts
        told = [await self._is_told(case, first, way, forks)]
        told += await asyncio.gather(*[self._is_told(case, one, way, forks) for one in others])
        case.num_told[way] = sum(told)
        for fork in forks:
            self._workspace.close(fork)

    async def _is_told(self, case: Case, fact: Fact, way: str, forks: list[ChatSession]) -> bool:
        fork = self._workspace.fork(case.session)
        assert fork
        forks.append(fork)
        if way != "skein":
            fork.shelf.wants_passages = _nothing  # type: ignore[method-assign, assignment]
        if way == "recall":
            fork.set_tools([RECALL])
        if way == "window":
            fork.set_summary(fork.chat.turns[-1], "")
            fork.set_limits(Overflow.ROLLING_WINDOW, case.window)
        fork.send(fact.question)
        await _until(lambda: not fork.is_busy)
        answer = fork.chat.turns[-1]
        usages = [*(one.usage for one in answer.rounds), answer.usage]
        num_computed = sum(one.num_computed_prompt_tokens for one in usages)
        case.num_computed[way] = case.num_computed.get(way, 0) + num_computed
        if way in ("skein", "summary"):
            case.num_longest = max(case.num_longest, answer.usage.num_prompt_tokens)
        is_told = fact.is_told(answer.text)
        if self._shows and not is_told:
            calls = [(use.tool, use.arguments, use.result) for one in answer.rounds for use in one.uses]
            print(
                f"--- {way}: {fact.question} {fact.value}\n{calls} {answer.text} {answer.notice}", flush=True
            )
        return is_told


def _nothing(_question: Turn | None) -> bool:
    return False


async def _for_each(cases: list[Case], work: Callable[[Case], Awaitable[None]]) -> None:
    free = asyncio.Semaphore(NUM_AT_ONCE)

    async def when_free(case: Case) -> None:
        async with free:
            await work(case)

    await asyncio.gather(*map(when_free, cases))


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.02)


def _print_summaries(cases: list[Case], seconds: float) -> None:
    summaries = [case.turn.summary for case in cases]
    num_used = sum(case.is_used for case in cases)
    print(f"\nsummed up: {num_used} of {len(cases)} are used, {seconds:.0f} s")
    print("  tokens of the chats    ", *[case.usage.num_prompt_tokens for case in cases])
    print("  tokens of the summaries", *[case.usage.num_generated_tokens for case in cases])
    in_text = [
        sum(fact.is_told(one.text) for fact in case.planted.facts if one)
        for case, one in zip(cases, summaries, strict=True)
    ]
    print(f"  facts in them {sum(in_text):>3} / {NUM_FACTS * len(cases)}", *in_text, flush=True)


def _print(way: str, cases: list[Case], seconds: float) -> None:
    told = [case.num_told[way] for case in cases]
    print(f"\n{way}: answered {sum(told)} / {NUM_FACTS * len(cases)}, {seconds:.0f} s")
    print("  answered of each chat     ", *told)
    print("  prompt tokens of each chat", *[case.num_computed[way] for case in cases], flush=True)
    if way == "window":
        print("  window of each chat       ", *[case.window for case in cases], flush=True)
