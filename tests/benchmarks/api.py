"""The API under load: a crowd, visits cut short, half-open sockets, callers that leave, and the window.

`skein serve` with four slots runs in a process of its own, and the window on a screen of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
import statistics
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.api.limits import Limits
from app.system import paths
from tests.benchmarks.figures import Verdict, show, show_ms
from tests.benchmarks.gguf_0_6b import cached_gguf
from tests.benchmarks.served import HUNG_S, Holdings, Reported, Served, load_record, serving, session

NUM_SLOTS = 4
WANTED_HEALTH_S = 0.5
WANTED_LEAVING_MS = 50.0  # beside the step that is being computed
WANTED_LATE_S = 1.5  # after a deadline: aiohttp rounds it up to a whole second
WANTED_UNFAIRNESS = 3.0  # longest wait to median
WANTED_MEGABYTES = 2.0  # llama-server grows by 1.7 in such a storm
SETTLING: dict[str, Any] = {"prompt": "What is 12 + 30?", "max_tokens": 8, "ignore_eos": True, "seed": 1}
ENDLESS: dict[str, Any] = {"ignore_eos": True, "temperature": 0}
LONG_PROMPT = "all of these words are one long prompt " * 12
NUM_VISITORS = 16  # at a time
WARM_UP_S = 5.0  # of visits before memory is compared: what is bounded has reached its bound
NUM_HALF_OPEN = 150
NUM_LEAVERS = 40
RESET = b"\1\0\0\0\0\0\0\0"  # SO_LINGER: on, for 0 s


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="a GGUF (default: the starter model; in the window 0.6B)")
    parser.add_argument("--threads", type=int, default=0, help="0: as Skein chooses")
    parser.add_argument("--clients", type=int, default=200, help="of the crowd")
    parser.add_argument("--storm", type=float, default=15.0, metavar="SECONDS")
    parser.add_argument(
        "--window", type=float, default=10.0, metavar="SECONDS", help="streaming with callers"
    )
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument("--repeats", help="not used: each part is one run")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    for name, part in PARTS.items():
        if options.only in (None, name):
            print(f"\n{name}", flush=True)
            part(options, verdict)
    return verdict.exit_code


def _serve_arguments(options: argparse.Namespace) -> list[str]:
    model = options.model or paths.starter_model()
    return ["--model", str(model), "--slots", str(NUM_SLOTS), "--threads", str(options.threads)]


# 1. All at once.


def _crowd(options: argparse.Namespace, verdict: Verdict) -> None:
    with serving(*_serve_arguments(options)) as served:
        asyncio.run(_ask_all_at_once(served, options.clients, verdict))


async def _ask_all_at_once(served: Served, num_clients: int, verdict: Verdict) -> None:
    async with session() as http:
        found = await asyncio.gather(*(_ask(served, http, number) for number in range(num_clients)))
    await served.settled(SETTLING)
    num_steps = [await served.num_steps()]
    await asyncio.sleep(1)
    num_steps.append(await served.num_steps())
    latency_s = sorted(seconds for seconds, _ in found)
    print(f"  {num_clients} at once, {NUM_SLOTS} slots, 16 tokens each")
    median_ms = show_ms("until the whole answer is there", latency_s, digits=0)
    longest_ms = latency_s[-1] * 1000
    print(f"  {'the longest':<34} {longest_ms:10.0f} ms")
    verdict.equal("how they ended", dict(Counter(end for _, end in found)), {"answered": num_clients})
    verdict.at_most("longest to median", longest_ms / median_ms, WANTED_UNFAIRNESS)
    verdict.equal("steps while nobody asks", num_steps[1] - num_steps[0], 0)


async def _ask(served: Served, http: Any, number: int) -> tuple[float, str]:
    """Seconds, and how it ended."""
    body = {"prompt": f"What is {number} + 1?", "max_tokens": 16, "ignore_eos": True}
    began = time.perf_counter()
    try:
        status, answer = await served.post(http, "/generate", body)
    except TimeoutError:
        return time.perf_counter() - began, "hung"
    is_whole = status == 200 and answer["usage"]["completion_tokens"] == 16
    return time.perf_counter() - began, "answered" if is_whole else f"status {status}"


# 2. Visits cut short.


def _storm(options: argparse.Namespace, verdict: Verdict) -> None:
    with serving(*_serve_arguments(options)) as served:
        asyncio.run(_storm_and_compare(served, options.storm, verdict))


async def _storm_and_compare(served: Served, seconds: float, verdict: Verdict) -> None:
    await _visits(served, WARM_UP_S)
    before, bytes_before = await served.settled(SETTLING), served.anonymous_bytes
    visits = await _visits(served, seconds)
    ended_at = time.perf_counter()
    after, bytes_after = await served.settled(SETTLING), served.anonymous_bytes
    settling_s = time.perf_counter() - ended_at
    num_steps = await served.num_steps()
    await asyncio.sleep(1)
    num_visits = visits.total()
    print(
        f"  {num_visits} visits in {seconds:g} s by {NUM_VISITORS} at a time, every other one ends by a reset"
    )
    print(f"  {', '.join(f'{stage} {count}' for stage, count in sorted(visits.items()))}")
    show_ms("until one more is answered", [settling_s])
    wanted = replace(before, num_running=0, num_waiting=0)
    for field in fields(Holdings):
        name = field.name.removeprefix("num_")
        verdict.equal(f"{name} after the storm", getattr(after, field.name), getattr(wanted, field.name))
    verdict.equal("visits that hung", visits["hung"], 0)
    print(f"  anonymous memory {bytes_before / 1e6:.2f} MB, then {bytes_after / 1e6:.2f} MB")
    verdict.at_most("megabytes more", (bytes_after - bytes_before) / 1e6, WANTED_MEGABYTES)
    verdict.equal("steps while nobody asks", await served.num_steps() - num_steps, 0)


async def _visits(served: Served, seconds: float) -> Counter[str]:
    """How many there were of each kind."""
    end = time.perf_counter() + seconds
    visits: Counter[str] = Counter()

    async def visit_again_and_again(visitor: int) -> None:
        rng = random.Random(visitor)
        while time.perf_counter() < end:
            stage = rng.choice(STAGES)
            try:
                await asyncio.wait_for(_visit(served, stage, rng), HUNG_S)
                visits[stage] += 1
            except TimeoutError:
                visits["hung"] += 1

    await asyncio.gather(*map(visit_again_and_again, range(NUM_VISITORS)))
    return visits


STAGES = ["connects only", "half a header", "half a body", "whole request", "first token"]


async def _visit(served: Served, stage: str, rng: random.Random) -> None:
    """Connect, send, perhaps wait for a token, close."""
    prompt = f"{rng.random()} {LONG_PROMPT}"
    is_streamed = stage == "first token" or rng.random() < 0.5
    whole = served.request(ENDLESS | {"prompt": prompt, "stream": is_streamed})
    lengths = {"connects only": 0, "half a header": 40, "half a body": len(whole) - 20}
    reader, writer = await served.connect(whole[: lengths.get(stage, len(whole))])
    with suppress(ConnectionError):
        await writer.drain()
        if stage == "first token":
            await reader.readuntil(b"data: ")
    _leave(writer, with_reset=rng.random() < 0.5)


def _leave(writer: asyncio.StreamWriter, *, with_reset: bool) -> None:
    if with_reset:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.close()


# 3. Half-open sockets.


def _half_open(options: argparse.Namespace, verdict: Verdict) -> None:
    with serving(*_serve_arguments(options)) as served:
        asyncio.run(_open_halves(served, verdict))


async def _open_halves(served: Served, verdict: Verdict) -> None:
    limits = Limits()
    before = await served.settled(SETTLING)
    whole = served.request({"prompt": "never sent as a whole"})
    kinds = [(whole[:0], limits.header_s), (whole[:1], limits.header_s), (whole[:40], limits.header_s)]
    kinds.append((whole[:-5], limits.body_s + limits.linger_s))
    closings = [asyncio.ensure_future(_closed_after(served, *kinds[n % 4])) for n in range(NUM_HALF_OPEN)]
    health_s = await _health_s(served, limits.header_s - 2)
    is_open = [not closing.done() for closing in closings]
    late_s = await asyncio.gather(*closings)
    after = await served.settled(SETTLING)
    print(f"  {NUM_HALF_OPEN} sockets: no byte, one byte, half a header, half a body")
    show_ms("/health while they are open", health_s)
    show("seconds after their deadline", sorted(late_s), "s", 2)
    verdict.equal("sockets open all that time", sum(is_open), NUM_HALF_OPEN)
    verdict.at_most("seconds for /health, p95", float(np.percentile(health_s, 95)), WANTED_HEALTH_S)
    verdict.at_most("seconds after the deadline, longest", max(late_s), WANTED_LATE_S)
    verdict.equal("sockets afterwards", after.num_sockets, before.num_sockets)


async def _closed_after(served: Served, data: bytes, deadline_s: float) -> float:
    """Seconds from its deadline to its end; infinite if there is none."""
    reader, writer = await served.connect(data)
    began = time.perf_counter()
    try:
        async with asyncio.timeout(deadline_s + 10):
            with suppress(ConnectionError):
                await reader.read()
    except TimeoutError:
        return float("inf")
    finally:
        writer.close()
    return time.perf_counter() - began - deadline_s


async def _health_s(served: Served, seconds: float) -> list[float]:
    found, end = [], time.perf_counter() + seconds
    async with session() as http:
        while (began := time.perf_counter()) < end:
            async with http.get(f"{served.address}/health") as response:
                assert response.status == 200
            found.append(time.perf_counter() - began)
            await asyncio.sleep(0.1)
    return found


# 4. Callers that leave.


@dataclass(frozen=True)
class Leaving:
    """`num_steps` that had the caller's rows in them ended after the caller had left."""

    stage: str
    gone_s: float
    num_steps: int
    step_s: float  # what was left of the step that was being computed


def _leavers(options: argparse.Namespace, verdict: Verdict) -> None:
    with tempfile.TemporaryDirectory(prefix="skein-") as folder:
        record = Path(folder) / "record.json"
        with serving(*_serve_arguments(options), record=record) as served:
            left_at, held = asyncio.run(_leave_often(served))
        leavings = _leavings(load_record(record), left_at)
    print(f"  {len(left_at)} callers left, {len(leavings)} of them after the engine had heard of them")
    for stage in sorted({one.stage for one in leavings}):
        those = [one for one in leavings if one.stage == stage]
        show_ms(f"left in {stage}, until all is free", sorted(one.gone_s for one in those))
        show("  its steps that ended after it", sorted(one.num_steps for one in those), "steps", 0)
    over_ms = [(one.gone_s - one.step_s) * 1000 for one in leavings]
    verdict.equal("requests running, waiting afterwards", (held.num_running, held.num_waiting), (0, 0))
    verdict.at_least("callers whose request was ended", len(leavings), len(left_at) / 2)
    verdict.at_most("ms until all is free, less the step under way, longest", max(over_ms), WANTED_LEAVING_MS)
    verdict.at_most("steps, median", statistics.median(one.num_steps for one in leavings), 1)


async def _leave_often(served: Served) -> tuple[list[float], Holdings]:
    """When each left, first beside one other answer, then while all slots are busy; and what is left."""
    left_at = []
    for num_others, num_leavers in [(1, NUM_LEAVERS * 3 // 4), (NUM_SLOTS, NUM_LEAVERS // 4)]:
        others = [asyncio.ensure_future(_stream_for_ever(served, number)) for number in range(num_others)]
        await _until_running(served, num_others)
        for number in range(num_leavers):
            left_at.append(await _ask_and_leave(served, number))
            await asyncio.sleep(0.1)
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        held = await served.settled(SETTLING)
    return left_at, held


async def _stream_for_ever(served: Served, number: int) -> None:
    async with session() as http:
        body = ENDLESS | {"prompt": f"Count from {number} on.", "stream": True}
        while True:
            async with http.post(f"{served.address}/generate", json=body) as response:
                async for _line in response.content:
                    pass


async def _until_running(served: Served, num_running: int) -> None:
    async with session() as http, asyncio.timeout(HUNG_S):
        while sum(slot["is_processing"] for slot in await served.slots(http)) < num_running:
            await asyncio.sleep(0.02)


async def _ask_and_leave(served: Served, number: int) -> float:
    """After some milliseconds, in which it comes to its prompt or its answer. Returns when."""
    rng = random.Random(number)
    has_long_prompt = number % 2 == 1
    prompt = f"{number} {LONG_PROMPT if has_long_prompt else ''}"
    _reader, writer = await served.connect(
        served.request(ENDLESS | {"prompt": prompt, "stream": number % 4 < 2})
    )
    await asyncio.sleep(rng.uniform(0.01, 0.05) if has_long_prompt else rng.uniform(0.05, 0.2))
    _leave(writer, with_reset=rng.random() < 0.5)
    return time.perf_counter()


def _leavings(reports: list[Reported], left_at: list[float]) -> list[Leaving]:
    """The first answer that is aborted after a caller has left, and before the next leaves, is his."""
    found = []
    for begin, end in zip(left_at, [*left_at[1:], float("inf")], strict=True):
        aborted = [chat_id for one in reports if begin < one.began < end for chat_id in one.aborted]
        if aborted:
            found.append(_leaving(reports, aborted[0], begin))
    return found


def _leaving(reports: list[Reported], chat_id: str, left_at: float) -> Leaving:
    last = max((n for n, one in enumerate(reports) if chat_id in one.computed + one.present), default=-1)
    aborted = min(n for n, one in enumerate(reports) if chat_id in one.aborted)
    gone_at = reports[max(last + 1, aborted)].began if last + 1 < len(reports) else float("inf")
    steps = [one for one in reports if chat_id in one.computed]
    before = [one for one in steps if one.began < left_at]
    stage = "the queue" if not before else "its prompt" if chat_id in before[-1].prefilled else "its answer"
    under_way = next((one.ended - left_at for one in reports if one.began < left_at < one.ended), 0.0)
    return Leaving(stage, gone_at - left_at, sum(one.ended > left_at for one in steps), under_way)


# 5. The window.


def _window(options: argparse.Namespace, verdict: Verdict) -> None:
    from tests.benchmarks import api_window  # Qt, which the other parts do without

    api_window.run(options.model or cached_gguf(), options.threads, options.window, verdict)


PARTS = {
    "crowd": _crowd,
    "storm": _storm,
    "half-open": _half_open,
    "leavers": _leavers,
    "window": _window,
}
