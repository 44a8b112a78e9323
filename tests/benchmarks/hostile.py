"""What strangers send and what their files hold: how long it holds everybody else, and what it takes.

First `skein serve` with a vocabulary of 152,000 tokens is asked with grammars, JSON schemas, templates and
bodies that cost far more than their size: for how long do its loop, /health and the chat beside it stand
still? Then one caller asks for a thousand answers, and another for a short one. Last, random
nestings, products and repetitions of what a text of ours, a template, an import and a row of the database
may be.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from app.chats.imports import read as imports
from app.engine.prompts.chat_template import LimitedChatTemplate, TemplateInputs
from app.protocol.errors import ChatTemplateError
from app.protocol.request import Message, Role
from app.storage import chat_rows
from app.system.said import from_text
from tests.benchmarks import stalls
from tests.benchmarks.figures import Verdict
from tests.benchmarks.lateness import Lateness
from tests.benchmarks.served import Served, serving, session
from tests.benchmarks.strangers import GRAMMARS, LATIN, SCHEMAS, properties
from tests.native.tiny_ggufs import CHAT_TEMPLATE, Shape, write_tiny_gguf

WANTED_SILENCE_S = 0.5
WANTED_LOOP_S = 0.02  # of computing on the server's loop, at one time
WANTED_BESIDE_S = 1.5  # two tokens of a chat beside it: a grammar may compute for half a second, twice
WANTED_CPU_S = 5.0
WANTED_MEGABYTES = 100.0
PATIENCE_S = 25.0  # who has not answered then never will
POLL_S = 0.01
N_VOCAB = 152_000
JSON = {"Content-Type": "application/json"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    stalls.add_arguments(parser)
    parser.add_argument("--nestings", type=int, default=200)
    parser.add_argument("--model", type=Path, help="a GGUF for two callers (default: the starter model)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument(
        "--case", default="", metavar="TEXT", help="of what is asked, only where this is named"
    )


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    for name, part in PARTS.items():
        if options.only in (None, name):
            print(f"\n{name}", flush=True)
            part(options, verdict)
    return verdict.exit_code


# 1. Asked of a server.


TEMPLATES = {
    "loops": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "50 MB of words": "{{ raise_exception('a' * 50000000) }}",
    "100 MB of text": "{% for i in range(100) %}{{ 'a' * 1000000 }}{% endfor %}",
}


CHAT = "/v1/chat/completions"
HI = {"role": "user", "content": "Hi"}
PARTS_OF_HI = {"role": "user", "content": [{"type": "text", "text": "Hi"}] * 900}
TOOL = {"type": "function", "function": {"name": "f", "parameters": properties(list(LATIN) * 10)}}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "100,000 messages": (CHAT, {"messages": [HI] * 100_000}),
    "200,000 parts": (CHAT, {"messages": [PARTS_OF_HI] * 220}),
    "9,999 messages": (CHAT, {"messages": [HI] * 9_999}),
    "18,000 parts": (CHAT, {"messages": [PARTS_OF_HI] * 20}),
    "1 MB in tools, 32 copies": (
        CHAT,
        {"messages": [HI], "n": 32, "chat_template_kwargs": {"a": ["x" * 5] * 100_000}},
    ),
    "128 tools, 32 copies": (CHAT, {"messages": [HI], "n": 32, "tools": [TOOL] * 128}),
    "4 MB of text": (CHAT, {"messages": [HI | {"content": "word " * 800_000}]}),
    "10,000 biases, 32 copies": (
        "/v1/completions",
        {"prompt": "x", "n": 32, "logit_bias": {str(n): 1.5 for n in range(10_000)}},
    ),
    "32 prompts of 9,000 tokens, 32 copies": ("/v1/completions", {"prompt": [[5] * 9_000] * 32, "n": 32}),
    "250,000 pieces": ("/tokenize", {"content": ["a"] * 150_000, "with_pieces": True}),
    "250,000 tokens": ("/tokenize", {"content": "a b" * 125_000, "with_pieces": True}),
    "250,000 tokens to text": ("/detokenize", {"tokens": [5] * 250_000}),
}


def _ask_server(options: argparse.Namespace, verdict: Verdict) -> None:
    asked = {"messages": [HI], "max_tokens": 8, "temperature": 0}
    kinds: list[tuple[str, str, dict[str, Any], str]] = [
        *(
            (f"grammar: {name}", CHAT, asked | {"grammar": text}, CHAT_TEMPLATE)
            for name, text in GRAMMARS.items()
        ),
        *(
            (f"schema: {name}", CHAT, asked | {"json_schema": one}, CHAT_TEMPLATE)
            for name, one in SCHEMAS.items()
        ),
        *((f"template: {name}", CHAT, asked, source) for name, source in TEMPLATES.items()),
        *(
            (f"body: {name}", path, {"max_tokens": 8} | body, CHAT_TEMPLATE)
            for name, (path, body) in BODIES.items()
        ),
    ]
    seen = []
    for name, path, body, template in [kind for kind in kinds if options.case in kind[0]]:
        with tempfile.TemporaryDirectory(prefix="skein-hostile-") as folder:
            model = Path(folder, "tiny.gguf")
            write_tiny_gguf(model, "qwen3", chat_template=template, shape=Shape(n_vocab=N_VOCAB))
            found = asyncio.run(_one_server(model, path, body))
        print(f"  {name:<40} {found}", flush=True)
        seen.append(found)
    verdict.at_most(
        "longest computing on the loop in seconds", max(s.loop_cpu_s for s in seen), WANTED_LOOP_S
    )
    verdict.at_most("longest silence of /health in seconds", max(s.health_s for s in seen), WANTED_SILENCE_S)
    beside_s = max(one.beside_s for one in seen)
    verdict.at_most("longest silence of a chat beside it in seconds", beside_s, WANTED_BESIDE_S)


@dataclass(frozen=True)
class _Silences:
    """The longest of each kind; `loop_cpu_s` of computing on the loop itself, which others cannot slow."""

    loop_s: float
    loop_cpu_s: float
    health_s: float
    beside_s: float
    told: str

    def __str__(self) -> str:
        return (
            f"loop {self.loop_s:5.3f} s ({self.loop_cpu_s:5.3f} s computing)   /health {self.health_s:5.2f} s"
            f"   a chat beside it {self.beside_s:5.2f} s   {self.told}"
        )


async def _one_server(model: Path, path: str, body: dict[str, Any]) -> _Silences:
    """The longest silences, and what was answered or how it ended."""
    record = model.with_suffix(".json")
    arguments = ["--model", str(model), "--slots", "4", "--threads", "1", "--api-key", "x", "--ctx", "4096"]
    command = [sys.executable, "-m", "tests.benchmarks.served", str(record), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        line = await asyncio.to_thread(process.stdout.readline)
        assert line.startswith("listening on "), "skein serve did not start"
        async with aiohttp.ClientSession(line.split()[-1], headers={"X-Api-Key": "x"}) as http:
            asked_at = time.perf_counter()
            silence, beside, told = await _watched(http, path, body)
        began = time.perf_counter()
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(process.wait, PATIENCE_S)
        except subprocess.TimeoutExpired:
            return _Silences(PATIENCE_S, PATIENCE_S, silence, beside, f"{told}; SIGTERM ignored")
        ticks = np.reshape(Lateness.load(record).ticks, (-1, 3))
        meanwhile = ticks[(ticks[:, 0] > asked_at) & (ticks[:, 0] < began)]
        _at, late_s, computing_s = meanwhile.max(axis=0, initial=0.0).tolist()
        told = f"{told}; ended in {time.perf_counter() - began:.1f} s"
        return _Silences(late_s, computing_s, silence, beside, told)
    finally:
        process.kill()
        process.wait()


async def _watched(http: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> tuple[float, float, str]:
    data = json.dumps(body).encode()
    silences, pauses = [0.0], [0.0]
    is_beside = asyncio.Event()
    polling = asyncio.create_task(_poll(http, silences))
    talking = asyncio.create_task(_talk(http, pauses, is_beside))
    await asyncio.wait_for(is_beside.wait(), PATIENCE_S)
    silences[:], pauses[:] = [0.0], [0.0]
    began = time.perf_counter()
    try:
        timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
        async with http.post(path, data=data, headers=JSON, timeout=timeout) as response:
            told = f"{response.status} after {time.perf_counter() - began:.1f} s"
            await response.read()
    except TimeoutError:
        told = f"no answer in {PATIENCE_S:.0f} s"
    await asyncio.sleep(4 * POLL_S)
    for task in (polling, talking):
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    return max(silences), max(pauses), told


async def _poll(http: aiohttp.ClientSession, silences: list[float]) -> None:
    while True:
        began = time.perf_counter()
        try:
            async with http.get("/health") as response:
                await response.read()
        finally:
            silences.append(time.perf_counter() - began)
        await asyncio.sleep(POLL_S)


async def _talk(http: aiohttp.ClientSession, pauses: list[float], is_beside: asyncio.Event) -> None:
    while True:
        last = 0.0
        async for _ in _words(http):
            now = time.perf_counter()
            if last:
                pauses.append(now - last)
            last = now
            is_beside.set()


async def _words(http: aiohttp.ClientSession) -> AsyncIterator[bytes]:
    body = {"prompt": "a", "max_tokens": 2000, "ignore_eos": True, "stream": True, "temperature": 0}
    async with http.post("/v1/completions", json=body) as response:
        async for line in response.content:
            yield line


# 2. One caller beside another.

NUM_MODESTLY_ASKED = 9
A_THOUSAND = {"prompt": [f"Question number {n}:" for n in range(32)], "n": 32, "max_tokens": 100}


def _ask_beside_a_thousand(options: argparse.Namespace, verdict: Verdict) -> None:
    """Both on one connection each, with the same key and as the same program: the hardest to tell apart."""
    model = ["--model", str(options.model)] if options.model else []
    with serving("--slots", "4", "--ctx", "4096", *model) as served:
        alone, beside, step_s = asyncio.run(_waits(served))
    for name, seconds in (("alone", alone), ("beside", beside)):
        print(f"  {name:<7} {' '.join(f'{one * 1000:6.0f}' for one in seconds)} ms")
    print(f"  a step of theirs {step_s * 1000:6.0f} ms")
    wanted = 2 * statistics.median(alone) + step_s
    verdict.at_most("seconds for 8 tokens beside 1,024 answers", statistics.median(beside), wanted)


async def _waits(served: Served) -> tuple[list[float], list[float], float]:
    """How long one answer of 8 tokens takes alone and beside 1,024 others, and a step of those."""
    async with session() as http:
        await _modest_s(served, http)
        alone = [await _modest_s(served, http) for _ in range(NUM_MODESTLY_ASKED)]
        asking = asyncio.create_task(served.post(http, "/v1/completions", A_THOUSAND | {"ignore_eos": True}))
        while (await served.metrics(http))["requests_deferred"] < 100:
            await asyncio.sleep(POLL_S)
        before, began = await served.metrics(http), time.perf_counter()
        beside = []
        for _ in range(NUM_MODESTLY_ASKED):
            beside.append(await _modest_s(served, http))
            await asyncio.sleep(20 * POLL_S)
        num_steps = (await served.metrics(http))["n_decode_total"] - before["n_decode_total"]
        step_s = (time.perf_counter() - began) / num_steps
        asking.cancel()
    return alone, beside, step_s


async def _modest_s(served: Served, http: aiohttp.ClientSession) -> float:
    body = {"prompt": "What is 12 + 30?", "max_tokens": 8, "ignore_eos": True, "cache_prompt": False}
    began = time.perf_counter()
    status, answer = await served.post(http, "/completion", body)
    assert status == 200, answer
    return time.perf_counter() - began


# 3. Random nestings.


def _try_nestings(options: argparse.Namespace, verdict: Verdict) -> None:
    most_cpu = most_bytes = 0.0
    kinds = list(NESTINGS.items())
    with tempfile.TemporaryDirectory(prefix="skein-hostile-") as folder:
        os.chdir(folder)
        for number in range(options.nestings):
            name, make = kinds[number % len(kinds)]
            draw = random.Random(f"{options.seed} {number}")
            size, work = make(draw)
            began = time.thread_time()
            told = work()
            cpu_s = time.thread_time() - began
            tracemalloc.start()  # slows it down, so it is done again
            work()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(
                f"  {number:>3} {name:<9} {size:>9,} B: {cpu_s:6.3f} s, {peak / 1e6:7.1f} MB  {told}",
                flush=True,
            )
            most_cpu, most_bytes = max(most_cpu, cpu_s), max(most_bytes, peak)
    verdict.at_most("seconds of computing", most_cpu, WANTED_CPU_S)
    verdict.at_most("megabytes", most_bytes / 1e6, WANTED_MEGABYTES)


Work = Callable[[], str]


def _text_of_ours(draw: random.Random) -> tuple[int, Work]:
    kept = json.dumps(_nested_text(draw, draw.randint(1, 20)))
    return len(kept), lambda: f"{len(from_text(kept)):,} characters"


def _nested_text(draw: random.Random, depth: int) -> Any:
    if depth == 0:
        return draw.choice(["x", "x", "xyz", "x" * draw.randint(1, 2000), 10 ** draw.randint(0, 40), ["x"]])
    names = [f"a{number}" for number in range(draw.randint(1, 3))]
    specs = ("",) if draw.random() < 0.9 else ("", ":,", ":.0f", ".b", "[0]", "!r", ":>99999999")
    fields = [f"{{{draw.choice(names)}{draw.choice(specs)}}}" for _ in range(draw.randint(1, 3))]
    deep, *others = names
    values = {deep: _nested_text(draw, depth - 1)} | {name: draw.choice(["y", 3]) for name in others}
    return {"text": draw.choice(["", "é", "{{"]) + "".join(fields), "values": values}


def _template(draw: random.Random) -> tuple[int, Work]:
    inner = draw.choice(
        [
            "x",
            "{{ 'a' * 1000000 }}",
            "{{ messages | tojson }}",
            "{% set s.t = s.t ~ s.t %}{{ s.t }}",
            "{{ m(1) }}",
        ]
    )
    for _ in range(draw.randint(1, 4)):
        count = draw.choice([3, 100, 99999])
        inner = draw.choice(
            [
                f"{{% for i in range({count}) %}}{inner}{{% endfor %}}",
                f"{{% for i in range({count}) %}}{inner}{{% endfor %}}",
                f"{{% if messages %}}{inner * draw.randint(1, 50)}{{% endif %}}",
                f"{inner}{{{{ raise_exception('a' * {count * 100}) }}}}",
            ]
        )
    source = "{% set s = namespace(t='ab') %}{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}" + inner

    def render() -> str:
        template = LimitedChatTemplate(source, "", "")
        try:
            return f"{len(template.render(TemplateInputs((Message(Role.USER, 'Hi'),)))):,} characters"
        except ChatTemplateError as error:
            return f"an error of {len(str(error))} characters"
        finally:
            template.close()

    return len(source), render


def _import(draw: random.Random) -> tuple[int, Work]:
    piece = draw.choice(
        ["{}", "[]", "1", '"x"', '{"role": "user", "content": "x"}', '{"id": 1, "messages": []}']
    )
    while len(piece) < draw.randint(1_000, 1_000_000):
        count = draw.choice([1, 2, 60, 5_000])
        if draw.random() < 0.5 or count * len(piece) > 2_000_000:
            piece = f'{{"a": {piece}, "messages": [{piece}]}}'
        else:
            piece = f"[{','.join([piece] * count)}]"
    if draw.random() < 0.5:
        piece = f'{{"conv": {{"id": "x"}}, "messages": [{piece}]}}'
    path = Path("import.json")
    path.write_text(piece)

    def take() -> str:
        findings = imports.read([path])
        reasons = [problem.reason[:50] for problem in findings.problems[:1]]
        return f"{len(findings.chats)} chats {reasons}"

    return len(piece), take


def _database_row(draw: random.Random) -> tuple[int, Work]:
    def deep() -> str:
        depth = draw.choice([1, 90, 900, 100_000])
        return draw.choice(
            ["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" + "{}," * depth + "1]"]
        )

    notice = draw.choice([json.dumps(_nested_text(draw, draw.randint(1, 25))), deep(), "x" * 3_000_000])
    usage = draw.choice(["", deep(), '{"num_prompt_tokens": 1e999}'])
    attachments = draw.choice(["[]", deep(), '[{"name": 1}]'])
    row: dict[str, Any] = dict.fromkeys(chat_rows._TURN_COLUMNS, "")
    row |= {"role": "user", "text": "Hi", "state": "done", "notice": notice, "usage": usage, "id": "id"}
    row |= {"created_at": 0.0, "attachments": attachments, "rounds": deep(), "reading": deep()}
    row["checksum"] = None

    def load() -> str:
        return f"a notice of {len(chat_rows._read_turn(row).notice):,} characters"

    return sum(len(str(value)) for value in row.values()), load


NESTINGS: dict[str, Callable[[random.Random], tuple[int, Work]]] = {
    "text": _text_of_ours,
    "template": _template,
    "import": _import,
    "row": _database_row,
}
PARTS: dict[str, Callable[[argparse.Namespace, Verdict], None]] = {
    "served": _ask_server,
    "stalls": stalls.run,
    "fairness": _ask_beside_a_thousand,
    "nestings": _try_nestings,
}
