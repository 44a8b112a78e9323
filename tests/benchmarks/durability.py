"""Kills, power cuts, full disks and flipped bits by the hundred: nothing is lost, and nothing is wrong.

Counts only, so a busy machine does no harm, but for the kills: they compare what was seen half a second
before. The power cuts and the failing disk are made with strace.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from app.storage.backups import BackupReason, Backups
from app.storage.chat_store import ChatStore
from tests.benchmarks.figures import Verdict
from tests.bridge.kills import Outcome, kill_after
from tests.storage.damage import (
    ALL,
    NUM_CHATS,
    damages,
    fill,
    fill_with_backup,
    flip_bits,
    looks_honest,
    overwrite,
    start,
    starts_well,
)
from tests.storage.old_chats import VERSIONS, has_everything, write_old
from tests.storage.power_cuts import ROOT, Disk, power_cuts, record
from tests.storage.recorded import END
from tests.storage.survival import Found, look

NUM_TABS, TOKENS_PER_S, WINDOW_S = 8, 40.0, 0.5
HELD_S = 0.7  # the GUI's loop, once in two seconds
QUESTIONS = 32  # of what is cut off
FEW = 2  # of what is done again for each single call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--busy", type=int, default=2, help="processes that compute beside the kills")
    parser.add_argument("--cuts", type=int, default=600)
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--flips", type=int, default=300)
    parser.add_argument("--step", type=int, default=1, help="only every N-th call that fails, or damage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("kills", "cuts", "starts", "disk", "flips", "damage"))


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    parts: dict[str, Callable[[argparse.Namespace, Verdict], None]] = {
        "kills": _kills,
        "cuts": _cuts,
        "starts": _starts,
        "disk": _failing_disk,
        "flips": _flips,
        "damage": _damage,
    }
    for name, part in parts.items():
        if options.only in (None, name):
            part(options, verdict)
    return verdict.exit_code


def _kills(options: argparse.Namespace, verdict: Verdict) -> None:
    print(
        f"{options.kills} kills of {NUM_TABS} tabs at {TOKENS_PER_S:g} tokens/s, "
        f"beside {options.busy} processes that compute, the loop held up for {HELD_S:g} s at times",
        flush=True,
    )
    chance = random.Random(options.seed)
    outcomes: list[Outcome] = []
    for _ in range(options.kills):
        with _folder() as folder, _busy(options.busy):
            outcomes.append(
                kill_after(
                    chance.uniform(0.2, 4.0),
                    folder / "chats.db",
                    num_tabs=NUM_TABS,
                    tokens_per_s=TOKENS_PER_S,
                    window_s=WINDOW_S,
                    held_s=HELD_S,
                )
            )
    lost = [number for one in outcomes for number in one.lost_tokens]
    print(f"  messages sent                      {sum(one.num_asked for one in outcomes)}")
    print(f"  answers that had ended             {sum(one.num_finished for one in outcomes)}")
    print(f"  of these, saved as still written   {sum(one.num_unfinished for one in outcomes)}")
    print(f"  tokens seen                        {sum(one.num_shown for one in outcomes)}")
    print(f"  tokens of an answer lost           median {statistics.median(lost):g}, at most {max(lost)}")
    ages = [age for one in outcomes for age in one.lost_ages]
    print(
        f"  age of the oldest words lost, s    median {statistics.median(ages):.2f}, at most {max(ages):.2f}"
    )
    problems = [problem for one in outcomes for problem in one.problems]
    verdict.equal(f"lost or damaged, {WINDOW_S} s before the kill", problems, [])


def _cuts(options: argparse.Namespace, verdict: Verdict) -> None:
    for synchronous, must_hold in (("FULL", True), ("NORMAL", False), ("OFF", False)):
        print(f"{options.cuts} power cuts, synchronous={synchronous}", flush=True)
        damaged, lost = _cut(options, synchronous)
        print(f"  damaged {damaged}, something lost that was called safe {lost}")
        if must_hold:
            verdict.equal("damaged, lost", (damaged, lost), (0, 0))
        else:
            verdict.equal("what is not safe is found", damaged + lost > 0, True)


def _cut(options: argparse.Namespace, synchronous: str) -> tuple[int, int]:
    chance = random.Random(options.seed)
    results: list[Found] = []
    with _folder() as folder:
        work, left = folder / "work", folder / "left"
        work.mkdir()
        program = ("-m", "tests.storage.recorded", str(work), str(QUESTIONS), "0", synchronous)
        calls = record(*program, folder=folder)
        disk = Disk(work)
        for _ in power_cuts(calls, disk, options.cuts, chance):
            left.mkdir()
            disk.after_power_cut(left, chance)
            results.append(look(left, disk.acknowledged))
            shutil.rmtree(left)
    num_damaged = sum(bool(one.problems or one.notice) for one in results)
    return num_damaged, sum(bool(one.lost) for one in results)


def _starts(options: argparse.Namespace, verdict: Verdict) -> None:
    """A power cut while an old database is migrated, or a damaged one is repaired."""
    for version in VERSIONS:
        name = f"the migration of version {version}"
        _cut_start(
            options, verdict, name, partial(write_old, version=version), partial(_is_migrated, version)
        )
    _cut_start(options, verdict, "a repair", _write_damaged, _is_repaired)


def _cut_start(
    options: argparse.Namespace,
    verdict: Verdict,
    name: str,
    prepare: Callable[[Path], None],
    check: Callable[[Path], Coroutine[Any, Any, None]],
) -> None:
    print(f"{options.starts} power cuts during {name}", flush=True)
    chance = random.Random(options.seed)
    wrong = []
    with _folder() as folder:
        work, left = folder / "work", folder / "left"
        prepare(work / "chats.db")
        disk = Disk(work)
        disk.start_with(
            {str(file.relative_to(work)): file.read_bytes() for file in work.rglob("*") if file.is_file()}
        )
        calls = record("-m", "tests.storage.started", str(work / "chats.db"), folder=folder)
        for _ in power_cuts(calls, disk, options.starts, chance):
            left.mkdir()
            disk.after_power_cut(left, chance)
            try:
                asyncio.run(check(left / "chats.db"))
            except AssertionError as error:
                wrong.append(str(error))
            shutil.rmtree(left)
    verdict.equal("something is not there", wrong, [])


async def _is_migrated(version: int, path: Path) -> None:
    store = ChatStore(path)
    assert await store.open() == ""
    await has_everything(store, version)
    await store.close()


def _write_damaged(path: Path) -> None:
    """Half of it is in a backup, too."""
    asyncio.run(fill(path, *range(NUM_CHATS // 2)))
    Backups(path).make(BackupReason.REGULAR)
    asyncio.run(fill(path, *range(NUM_CHATS // 2, NUM_CHATS)))
    overwrite(path, 0, 16)


async def _is_repaired(path: Path) -> None:
    _notice, texts, _notices = await start(path)
    assert texts == ALL


def _failing_disk(options: argparse.Namespace, verdict: Verdict) -> None:
    print("A file that cannot grow, at each frame of the log in turn", flush=True)
    with _folder() as folder:
        command = ("-m", "tests.storage.full_disk", str(folder / "work"), str(FEW), str(options.step))
        result = json.loads(_python(*command))
    print(f"  went well {result['num_good']}")
    verdict.equal("wrong", result["wrong"], [])
    _inject(options, verdict, "pwrite64", "ENOSPC", is_transient=True)
    _inject(options, verdict, "pwrite64", "ENOSPC", is_transient=False)
    _inject(options, verdict, "fdatasync", "EIO", is_transient=True)
    _inject(options, verdict, "fdatasync", "EIO", is_transient=False)


def _inject(
    options: argparse.Namespace, verdict: Verdict, call: str, error: str, *, is_transient: bool
) -> None:
    kind = "once" if is_transient else "from then on"
    print(f"{error} of {call}, {kind}, at each call in turn", flush=True)
    with _folder() as folder:
        work = folder / "work"
        work.mkdir()
        calls = record("-m", "tests.storage.recorded", str(work), str(FEW), folder=folder)
        num_calls = sum(one.name == call for one in calls)
        wrong, num_ended, num_whole = [], 0, 0
        for number in range(1, num_calls + 1, options.step):
            shutil.rmtree(work)
            work.mkdir()
            safe = _with_failure(work, call, error, number, is_transient=is_transient)
            found = look(work, safe)
            wrong += [] if found == Found() else [f"call {number}: {found}"]
            num_whole += END in safe
            num_ended += END not in safe
    print(f"  {num_calls} calls: {num_whole} runs saved everything, {num_ended} gave up and said so")
    verdict.equal("wrong", wrong, [])


def _with_failure(work: Path, call: str, error: str, number: int, *, is_transient: bool) -> list[str]:
    """What was called safe."""
    when = f"{number}" if is_transient else f"{number}+"
    done = subprocess.run(
        ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}",
         "-e", f"inject={call}:error={error}:when={when}",
         sys.executable, "-m", "tests.storage.recorded", str(work), str(FEW), "3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return re.findall(r"^\S+$", done.stdout, re.MULTILINE)


def _flips(options: argparse.Namespace, verdict: Verdict) -> None:
    print(f"{options.flips} databases with 1 to 8 flipped bits", flush=True)
    chance = random.Random(options.seed)
    wrong, num_told = [], 0
    with _folder() as folder:
        whole = folder / "whole" / "chats.db"
        asyncio.run(fill(whole, *range(NUM_CHATS)))
        for number in range(options.flips):
            path = folder / str(number) / "chats.db"
            path.parent.mkdir()
            shutil.copyfile(whole, path)
            flip_bits(path, chance.randint(1, 8), chance)
            problem = asyncio.run(looks_honest(path, NUM_CHATS))
            wrong += [f"{number}: {problem}"] if problem else []
            num_told += any(path.parent.glob("chats.damaged-*"))
            shutil.rmtree(path.parent)
    print(f"  repaired at the start {num_told}")
    verdict.equal("wrong without a word", wrong, [])


def _damage(options: argparse.Namespace, verdict: Verdict) -> None:
    with _folder() as folder:
        whole = folder / "whole" / "chats.db"
        asyncio.run(fill_with_backup(whole))
        content = whole.read_bytes()
        cases = list(damages(content, random.Random(options.seed)))[:: options.step]
        print(f"{len(cases)} databases damaged at one place, with a backup", flush=True)
        wrong, num_told = [], 0
        for name, damaged in cases:
            path = folder / "damaged" / "chats.db"
            shutil.copytree(whole.parent, path.parent)
            path.write_bytes(damaged)
            problem = asyncio.run(starts_well(path))
            wrong += [f"{name}: {problem}"] if problem else []
            num_told += any(path.parent.glob("chats.damaged-*"))
            shutil.rmtree(path.parent)
    print(f"  repaired at the start {num_told}")
    verdict.equal("not all chats, or not what is so", wrong, [])


def _python(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


@contextmanager
def _busy(number: int) -> Iterator[None]:
    """Beside processes that compute as long as this lasts."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="skein-") as name:
        yield Path(name)
