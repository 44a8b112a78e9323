"""The window on a screen of its own: one chat streams in front, alone and then beside callers of its API."""

from __future__ import annotations

import asyncio
import signal
import socket
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import numpy as np

from tests.benchmarks.figures import Verdict, show
from tests.benchmarks.served import HUNG_S, KEY, session
from tests.benchmarks.watched_window import Record
from tests.e2e.desktop import new_desktop
from tests.e2e.skein import Skein

NUM_CALLERS = 4
N_CTX = 8192
WANTED_LATE_MS = 50.0
ALONE_S = 5.0
STOP_S = 15.0
MAX_TOKENS = 64  # of an answer to a caller, who then goes on with a longer prompt
FRONT = "in front"
API_CHAT = "api-"  # the chats of callers are called so


@dataclass(frozen=True)
class Times:
    """`time.perf_counter()` seconds."""

    streaming: float  # the chat in front
    joined: float  # every caller had a token
    ended: float


def run(model: Path, num_threads: int, seconds: float, verdict: Verdict) -> None:
    with tempfile.TemporaryDirectory(prefix="skein-") as folder, new_desktop() as desktop:
        skein = Skein(Path(folder) / "home", desktop)
        file, port = Path(folder) / "record.json", _free_port()
        # Greedy, so that a model of random weights never happens to end its answer.
        skein.configure(
            api_enabled=True,
            api_port=port,
            api_key=KEY,
            n_ctx=N_CTX,
            n_threads=num_threads,
            temperature=0.0,
        )
        try:
            program = ("-m", "tests.benchmarks.watched_window", str(file))
            skein.start(str(model), observed=False, program=program)
            desktop.type("Tell me a long story.")
            desktop.keys("Return")
            times = asyncio.run(_load(f"http://127.0.0.1:{port}", seconds))
            assert skein.process
            skein.process.send_signal(signal.SIGTERM)
            code, _seconds = skein.wait_for_end(STOP_S)
            assert code == 0, f"the window ended with code {code}:\n{skein.log()[-3000:]}"
        finally:
            skein.clean_up()
        _judge(Record.load(file), times, verdict)


def _judge(record: Record, times: Times, verdict: Verdict) -> None:
    _show_late("ms late, alone", record.late_ms(times.streaming, times.joined))
    late_ms = _show_late(f"ms late beside {NUM_CALLERS} callers", record.late_ms(times.joined, times.ended))
    steps = record.served(times.joined, times.ended)
    tokens = Counter(chat if chat.startswith(API_CHAT) else FRONT for step in steps for chat in step)
    callers = sorted(count for chat, count in tokens.items() if chat != FRONT)
    print(
        f"  {tokens.total()} tokens in {len(steps)} steps, {tokens[FRONT]} of them {FRONT}, callers {callers}"
    )
    show("tokens a step", [statistics.mean(map(len, steps))], "", 2)
    verdict.at_most("ms late, p99", late_ms, WANTED_LATE_MS)
    verdict.at_least("share of the chat in front", tokens[FRONT] / tokens.total(), 1 / (1 + NUM_CALLERS))
    verdict.equal("callers that got tokens", len(callers), NUM_CALLERS)


def _show_late(name: str, late_ms: list[float]) -> float:
    """Returns the 99th percentile."""
    median, p99, longest = np.percentile(late_ms, [50, 99, 100])
    print(f"  {name:<34} p50 {median:.1f}, p99 {p99:.1f}, longest {longest:.1f}; {len(late_ms)} times")
    return float(p99)


async def _load(address: str, seconds: float) -> Times:
    """From the first token of the chat in front."""
    async with session() as http:
        await _until_decoding(http, address)
        streaming = time.perf_counter()
        await asyncio.sleep(ALONE_S)
        begun = [asyncio.Event() for _ in range(NUM_CALLERS)]
        callers = [
            asyncio.ensure_future(_call(http, address, number, event)) for number, event in enumerate(begun)
        ]
        async with asyncio.timeout(HUNG_S):
            await asyncio.gather(*(event.wait() for event in begun))
        joined = time.perf_counter()
        done, _pending = await asyncio.wait(callers, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        ended = time.perf_counter()
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
    for caller in done:
        caller.result()  # its error: nobody else ends early
    return Times(streaming, joined, ended)


async def _until_decoding(http: aiohttp.ClientSession, address: str) -> None:
    async with asyncio.timeout(HUNG_S):
        while True:
            async with http.get(f"{address}/slots") as response:
                slots = await response.json()
            if any(slot["is_processing"] and slot["next_token"][0]["n_decoded"] for slot in slots):
                return
            await asyncio.sleep(0.1)


async def _call(http: aiohttp.ClientSession, address: str, number: int, begun: asyncio.Event) -> None:
    """Ask again and again, each time with a longer prompt, as a conversation goes on."""
    prompt = f"Caller {number} has a question. "
    while True:
        body = {"prompt": prompt, "max_tokens": MAX_TOKENS, "ignore_eos": True, "stream": True}
        async with http.post(f"{address}/generate", json=body) as response:
            assert response.status == 200, await response.text()
            async for line in response.content:
                if line.startswith(b"data: "):
                    begun.set()
        prompt += "And then there is something else that he wants to know. "


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
