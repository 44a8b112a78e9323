"""What drafting is worth with a real model and its draft model: four kinds of answers, in one to eight chats.

Each cell is the tokens per second of all chats together with drafting over those without, greedy, both in one
engine, by turns. Prompts are in their cells. Each chat has a text of its own, and each repeat has others.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import inspect
import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any
from unittest import mock

from app.engine.backend import Backend
from app.engine.batching import awaited_media, draft_planner, sampling
from app.engine.batching.draft_planner import DraftPlanner
from app.engine.cells import checkpoints, event_log, idle, kept_cells, prefix
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from tests import driver
from tests.benchmarks.figures import Verdict, show
from tests.benchmarks.gguf_0_6b import cached_gguf

N_CTX = 16384
NOT_SLOWER = 0.97
# Tokens per second with drafting over those without, by task and number of chats.
WANTED = {("edit", 1): 2.5, ("edit", 4): 1.3}
MAX_TOKENS = {1: 128, 4: 64, 8: 48}  # of each answer
EDITED: tuple[ModuleType, ...] = (
    idle,
    sampling,
    awaited_media,
    event_log,
    prefix,
    checkpoints,
    draft_planner,
    kept_cells,
)
EDITED_LINES = 60
TOPICS = (
    "how a bicycle stays upright",
    "why the sky is blue",
    "how bread rises",
    "what a KV cache is",
    "how vaccines work",
    "why leaves change colour",
    "how a lock on a canal works",
    "what makes glass transparent",
)
TABLES = (
    "the planets (distance from the sun, diameter, number of moons)",
    "eight programming languages (year, author, typing)",
    "eight European capitals (country, population, river)",
    "eight metals (symbol, density, melting point)",
    "eight composers (born, died, country)",
    "eight animals (class, weight, speed)",
    "eight lakes (country, area, depth)",
    "eight bridges (city, length, year)",
)
NAMES = ("people", "books", "cities", "films", "cars", "dishes", "rivers", "games")
SCHEMA = json.dumps(
    {
        "type": "array",
        "minItems": 6,
        "maxItems": 12,
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "description": {"type": "string"},
                "year": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            },
            "required": ["name", "description", "year", "tags"],
            "additionalProperties": False,
        },
    }
)


def _edit(number: int) -> str:
    source = "\n".join(inspect.getsource(EDITED[number]).splitlines()[:EDITED_LINES])
    question = "Rename `seq` to `sequence` everywhere. Answer with the whole file, nothing else."
    return f"{question}\n\n```python\n{source}\n```"


TASKS: dict[str, Callable[[int], str]] = {
    "edit": _edit,
    "free": lambda number: f"Explain {TOPICS[number]} to a curious adult, in flowing text.",
    "table": lambda number: f"Make a Markdown table of {TABLES[number]}.",
    "JSON": lambda number: f"List ten well-known {NAMES[number]} as JSON.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS, help="default: all")
    parser.add_argument("--chats", type=int, nargs="+", default=list(MAX_TOKENS), help="at once")
    parser.add_argument("--heads", action="store_true", help="a random model that drafts for itself instead")
    parser.add_argument("--ask", nargs="+", metavar="URL", help="ask servers the same instead, by turns")


def compare(options: argparse.Namespace) -> int:
    """Without drafting, from the chat's own text, and with the draft model too."""
    verdict = Verdict()
    params = LoadParams(
        options.model or cached_gguf(),
        n_ctx=N_CTX,
        n_seq_max=8,
        n_threads=options.threads,
        num_drafted_tokens=options.draft[0],
        draft_model=options.draft_model,
    )
    with open_llama_backend(params) as backend:
        drafts = backend.draft.model.description if backend.draft else "nothing but its own text"
        print(f"{backend.model.description}, drafted for by {drafts}")
        ways = ["own text", "draft model"] if backend.draft else ["own text"]
        for task in options.tasks:
            for num_chats in options.chats:
                compare_cell(backend, task, num_chats, ways, options.repeats, verdict)
    return verdict.exit_code


def compare_cell(
    backend: Backend, task: str, num_chats: int, ways: list[str], repeats: int, verdict: Verdict
) -> None:
    """Each way by turns with no drafting."""
    print(f"\n{task}, {num_chats} chats")
    engine = Engine(backend)
    runs: dict[str, list[_Run]] = {way: [] for way in ["off", *ways]}
    planners = {way: _planner(engine, way) for way in runs}
    for repeat in range(repeats):
        asked = [_request(task, repeat + number, num_chats) for number in range(num_chats)]
        driver.run(engine, *(replace(one, max_tokens=0) for one in asked))
        for way, of_way in runs.items():
            with _planned_by(engine, planners[way]):
                of_way.append(_Run(engine, asked))
        for one in asked:
            engine.forget(one.chat_id)
    engine.close()
    _judge(runs, f"{task}, {num_chats} chats", WANTED.get((task, num_chats), NOT_SLOWER), verdict)


def _judge(runs: dict[str, list[_Run]], cell: str, wanted: float, verdict: Verdict) -> None:
    off = runs.pop("off")
    show("without", [run.tokens_per_s for run in off], "tokens/s")
    for way, of_way in runs.items():
        show(way, [run.tokens_per_s for run in of_way], "tokens/s")
        show("  drafted", [run.num_drafted for run in of_way], "tokens", 0)
        show("  right", [100 * run.num_kept / max(run.num_drafted, 1) for run in of_way], "%", 0)
        ratios = [on.tokens_per_s / without.tokens_per_s for on, without in zip(of_way, off, strict=True)]
        ratio = show("  with / without", ratios, "", 3)
        verdict.at_least(f"{cell}, {way}", ratio, wanted)
        num_different = sum(on.texts != without.texts for on, without in zip(of_way, off, strict=True))
        verdict.equal(f"{cell}, {way}: texts that differ", num_different, 0)


class _Run:
    """All chats answer together, from prompts that are in their cells."""

    def __init__(self, engine: Engine, asked: list[Request]) -> None:
        began = time.perf_counter()
        answers = driver.run(engine, *asked).answers
        seconds = time.perf_counter() - began
        usages = [answer.usage for answer in answers.values()]
        self.texts = [answers[one.request_id].text for one in asked]
        self.tokens_per_s = sum(usage.num_generated_tokens for usage in usages) / seconds
        self.num_drafted = sum(usage.num_drafted_tokens for usage in usages)
        self.num_kept = sum(usage.num_kept_tokens for usage in usages)


@contextmanager
def _planned_by(engine: Engine, planner: DraftPlanner) -> Iterator[None]:
    with (
        mock.patch.object(engine, "_draft_planner", planner),
        mock.patch.object(engine._scheduler, "_draft_planner", planner),
    ):
        yield


def _planner(engine: Engine, way: str) -> DraftPlanner:
    """Each way learns by itself: what was measured without drafting must not help the other."""
    planner = DraftPlanner(engine._backend)
    planner.is_on = way != "off"
    if way == "own text":
        planner._model = None
    return planner


def _request(task: str, number: int, num_chats: int) -> Request:
    number %= len(TOPICS)
    name = f"{task} {number}"
    sampled = SamplingParams(temperature=0.0, json_schema=SCHEMA if task == "JSON" else "")
    messages = (Message(Role.USER, TASKS[task](number)),)
    return Request(name, name, messages, sampled, MAX_TOKENS.get(num_chats, 48))


# Servers.


def compare_servers(options: argparse.Namespace) -> int:
    """Asks each server the same, by turns, from prompts that are in their cells."""
    for task in options.tasks:
        for num_chats in options.chats:
            print(f"\n{task}, {num_chats} chats")
            speeds: dict[str, list[float]] = {url: [] for url in options.ask}
            for repeat in range(options.repeats):
                bodies = [_body(task, repeat + number, num_chats) for number in range(num_chats)]
                for url, of_url in speeds.items():
                    _ask_all(url, [body | {"max_tokens": 1} for body in bodies])
                    of_url.append(_ask_all(url, bodies))
            for url, of_url in speeds.items():
                show(url, of_url, "tokens/s")
    return 0


def _body(task: str, number: int, num_chats: int) -> dict[str, Any]:
    number %= len(TOPICS)
    body = {
        "messages": [{"role": "user", "content": TASKS[task](number)}],
        "temperature": 0,
        "max_tokens": MAX_TOKENS.get(num_chats, 48),
        "id_slot": number,
        "cache_prompt": True,
    }
    return body | ({"json_schema": json.loads(SCHEMA)} if task == "JSON" else {})


def _ask_all(url: str, bodies: list[dict[str, Any]]) -> float:
    """Tokens per second of all answers together."""
    began = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
        num_tokens = sum(pool.map(lambda body: _ask(url, body), bodies))
    return num_tokens / (time.perf_counter() - began)


def _ask(url: str, body: dict[str, Any]) -> int:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer benchmark"}
    asked = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asked) as response:
        num_tokens = json.load(response)["usage"]["completion_tokens"]
    assert isinstance(num_tokens, int)
    return num_tokens
