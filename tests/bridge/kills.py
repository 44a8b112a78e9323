"""Kills `streaming` at some moment, and compares what was seen with what the next start finds."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from app.chats.chat import Turn, TurnState
from app.storage.chat_store import ChatStore
from app.storage.database import damaged_turn_ids
from tests.bridge.streaming import TITLE, answer, question
from tests.storage.power_cuts import ROOT


@dataclass
class Seen:
    """One answer, as the user saw it before the kill. Times are ages, in seconds at the kill."""

    was_asked: bool = False
    token_ages: list[float] = field(default_factory=list)
    finished_age: float | None = None

    def age_of_lost(self, num_found: int, is_done: bool) -> float:
        """Of the oldest thing that was seen and is not there; 0: all is there."""
        ages = self.token_ages[num_found:]
        if self.finished_age is not None and not is_done:
            ages = [*ages, self.finished_age]
        return max(ages, default=0.0)


@dataclass
class Outcome:
    problems: list[str] = field(default_factory=list)
    num_asked: int = 0
    num_finished: int = 0
    num_shown: int = 0  # tokens
    lost_tokens: list[int] = field(default_factory=list)  # of each answer that was being written
    lost_ages: list[float] = field(default_factory=list)  # of each answer, how old the oldest lost words were
    num_unfinished: int = 0  # answers that were seen to end in the last moment, and are not marked so


def kill_after(
    seconds: float,
    path: Path,
    *,
    num_tabs: int,
    tokens_per_s: float,
    window_s: float,
    held_s: float = 0.0,
) -> Outcome:
    """What was seen `window_s` before the kill must be there; what was asked must always be."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bridge.streaming",
         str(path), str(num_tabs), str(tokens_per_s), str(held_s)],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stdout
        first = child.stdout.readline()
        lines = [first]
        while b"ready" not in lines[-1]:
            lines.append(child.stdout.readline())
            assert lines[-1], "it ended by itself"
        end = time.monotonic() + seconds
        # The pipe is read meanwhile, so that it never fills and holds the program up.
        os.set_blocking(child.stdout.fileno(), False)
        while time.monotonic() < end:
            lines += (child.stdout.read() or b"").splitlines(keepends=True)
            time.sleep(0.005)
        killed_at = time.monotonic()
        child.kill()
        child.wait()
        os.set_blocking(child.stdout.fileno(), True)
        lines += child.stdout.read().splitlines(keepends=True)
    seen = _seen(b"".join(lines).decode(), killed_at)
    return asyncio.run(_compare(path, seen, window_s))


def _seen(told: str, killed_at: float) -> dict[tuple[int, int], Seen]:
    """By tab and number of the question."""
    seen: dict[tuple[int, int], Seen] = {}
    for line in told.splitlines():
        kind, *numbers, at = line.split()
        if kind == "ready":
            continue
        one = seen.setdefault((int(numbers[0]), int(numbers[1])), Seen())
        age = killed_at - float(at)
        if kind == "asked":
            one.was_asked = True
        elif kind == "shown":
            one.token_ages += [age] * (int(numbers[2]) - len(one.token_ages))
        else:
            one.finished_age = age
    return seen


async def _compare(path: Path, seen: dict[tuple[int, int], Seen], window_s: float) -> Outcome:
    outcome = Outcome()
    chats = await _start(path, outcome)
    with closing(sqlite3.connect(path)) as connection:
        outcome.problems += [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        outcome.problems += damaged_turn_ids(connection)
    for (tab, number), one in seen.items():
        turns = chats.get(f"{TITLE}{tab}", [])[2 * number : 2 * number + 2]
        _compare_one(outcome, tab, number, one, turns, window_s)
    return outcome


async def _start(path: Path, outcome: Outcome) -> dict[str, list[Turn]]:
    """As the program does it. By title."""
    store = ChatStore(path)
    if notice := await store.open():
        outcome.problems.append(notice)
    chats = {}
    for summary in await store.summaries():
        saved = await store.load_chat(summary.id)
        assert saved
        chats[summary.title] = (await store.load_turns(saved)).shown
    await store.close()
    return chats


def _compare_one(
    outcome: Outcome, tab: int, number: int, one: Seen, turns: list[Turn], window_s: float
) -> None:
    name = f"tab {tab}, question {number}"
    outcome.num_asked += one.was_asked
    outcome.num_finished += one.finished_age is not None
    outcome.num_shown += len(one.token_ages)
    if one.was_asked and (len(turns) < 2 or turns[0].text != question(tab, number)):
        outcome.problems.append(f"{name}: the message is not there")
        return
    if len(turns) < 2:
        return
    found = turns[1]
    whole = answer(number, max(len(one.token_ages), 1000))
    if not whole.startswith(found.text):
        outcome.problems.append(f"{name}: the answer is another")
    num_found, is_done = len(found.text.split()), found.state is TurnState.DONE
    age = one.age_of_lost(num_found, is_done)
    if age > window_s:
        outcome.problems.append(f"{name}: what was seen {age:.2f} s before is lost")
    if found.state is TurnState.STREAMING:
        outcome.problems.append(f"{name}: it seems to be written still")
    outcome.lost_ages.append(age)
    outcome.num_unfinished += one.finished_age is not None and not is_done
    if one.finished_age is None:
        outcome.lost_tokens.append(max(0, len(one.token_ages) - num_found))
