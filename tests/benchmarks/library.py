"""Ten thousand saved chats: how long the list of them, its filter and a search in all messages take.

The list is the window's own, without a window round it; the search is the store's, on a database on the disk.
Needs no model.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show_ms

if TYPE_CHECKING:
    from app.storage.chat_store import ChatStore
    from app.storage.list_rows import ChatSummary

NUM_CHATS, NUM_TURNS = 10_000, 4
WANTED_LIST_MS = 50.0  # a blink: whenever a message is sent, the list is made anew
WANTED_SEARCH_MS = 100.0  # after each pause in typing
QUERIES = ("prompt", '"prompt cache"', "cac", "缓存", "q7", "no such word")
TEXT = (
    "the prompt cache of a chat keeps cells so that its next turn computes only what is new "
    "models slots batch step token 键值缓存 上下文 answer question weather river list plan"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication(sys.argv[:1])
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as folder:
        summaries = asyncio.run(_search(Path(folder), options, verdict))
    _list(summaries, options, verdict)
    del application
    return verdict.exit_code


async def _search(folder: Path, options: argparse.Namespace, verdict: Verdict) -> tuple[ChatSummary, ...]:
    from app.storage.chat_store import ChatStore

    store = ChatStore(folder / "chats.db")
    await store.open()
    try:
        await _fill(store)
        for query in QUERIES:
            durations = []
            for _ in range(options.repeats):
                begin = time.perf_counter()
                await store.search(query, 100)
                durations.append(time.perf_counter() - begin)
            verdict.at_most(f"ms to find {query}", show_ms(f"find {query}", durations), WANTED_SEARCH_MS)
        return await store.summaries()
    finally:
        await store.close()


async def _fill(store: ChatStore) -> None:
    from app.chats.chat import Chat, Turn
    from app.protocol.request import Role
    from app.storage.chat_rows import ChatChange

    chance, now, words = random.Random(5), time.time(), TEXT.split()
    changes = []
    for number in range(NUM_CHATS):
        at = now - 600 * number
        turns = [
            Turn(Role.USER, " ".join(chance.choices(words, k=60)), created_at=at) for _ in range(NUM_TURNS)
        ]
        folder = "Work" if number % 20 == 0 else ""
        changes.append(ChatChange.of(Chat(auto_title=f"Chat {number}", turns=turns, folder=folder)))
    await store.save_folders(["Work"])
    await store.save(changes)


def _list(summaries: tuple[ChatSummary, ...], options: argparse.Namespace, verdict: Verdict) -> None:
    from dataclasses import replace

    from app.ui.chats.search_rows import title_rows
    from app.ui.chats.sidebar import Sidebar

    side = Sidebar()
    side.resize(240, 800)
    side.show()
    side.apply(summaries, ("Work",))

    def one_is_newer() -> None:
        """As when a message is sent."""
        newest = replace(summaries[-1], updated_at=time.time())
        side.apply((*summaries[:-1], newest), ("Work",))
        side.grab()

    def filter_it() -> None:
        side.filter.setText("" if side.filter.text() else "chat 77")
        side.grab()

    works: dict[str, Callable[[], object]] = {
        "list with a newer chat": one_is_newer,
        "filtered list": filter_it,
        "titles in the search": lambda: title_rows("chat 77", summaries, {}),
    }
    for name, work in works.items():
        durations = []
        for _ in range(options.repeats):
            begin = time.perf_counter()
            work()
            durations.append(time.perf_counter() - begin)
        verdict.at_most(f"ms for the {name}", show_ms(name, durations), WANTED_LIST_MS)
    side.deleteLater()
