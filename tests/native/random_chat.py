"""Gives llama.cpp's chat layer broken answers and hostile templates and schemas, in a process that may die.

    python -m tests.native.random_chat [--seeds N] [--templates FOLDER] [--library PATH]

`--library` may be a build with sanitizers, whose runtime LD_PRELOAD then names. What takes too long is ended,
as Skein ends it. Exit code 0: nothing died of anything else.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from app.engine.prompts.chat_worker import (
    MAX_CPU_S,
    MAX_MEMORY_BYTES,
    ChatLayer,
    ChatLayerError,
    library_path,
)

TEMPLATES = Path(__file__).parents[1] / "templates"
ANSWERS_OF_A_SEED = 20
Chat = Callable[..., dict[str, Any]]

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "more": {"type": "object"}},
    "required": ["city"],
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "", "parameters": PARAMETERS}}
    for name in ("get_weather", "book_trip")
]
USER = {"role": "user", "content": "Hello!"}
CALLS = [
    {"id": f"call0000{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
    for index, (name, arguments) in enumerate(
        [
            ("get_weather", '{"city": "Zürich 🙂", "days": 3}'),
            ("book_trip", '{"city": "\\"", "more": {"a": [1]}}'),
        ]
    )
]
ANSWER = {"role": "assistant", "content": "Done.", "reasoning_content": "So…", "tool_calls": CALLS}
PIECES = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<function=", "[TOOL_CALLS]", "<|channel|>"),
    *("{", "}", "[", "]", '"', "\\", "\\u", "<", ">", "</", "<|", "|>", "::", ",", "null", "1e999"),
    *("\ud800", "\0", "\n", "🙂"),
)
# Endless recursion is left out: it fills the stack, which ends the process, as it should.
TEMPLATE_PIECES = (
    *"""\
{% for a in range(10000000) %}{% endfor %}
{{ 'x' * 100000000 }}
{{ messages * 1000000 }}
{% for m in messages %}
{% endfor %}
{{ '
{%
%}
{% set x = [] %}{% for i in range(99999) %}{% set x = x + [x] %}{% endfor %}
{{ a.b.c }}
{{ 1 // 0 }}
{{ raise_exception('no') }}
{{ -9223372036854775808 // -1 }}
{{ messages[99] }}
{{ 'a'[::0] }}
{{ ((((((((((
{% if
{{ tools | tojson(indent=99999999) }}
{{ 'x'.split('') }}
{{ range(1, 9, 0) }}
{{ 'a' | replace('', 'b') }}
{{ messages | map(attribute='content') | join }}
{#
{{ x | y }}""".splitlines(),
    "\0",
)
VALUES = (
    *(None, True, -1, 0, 2**63, 1.5, 1e308, [], {}, [{}]),
    *("", "x", "^$", "[", "(?!a)", "a{1,99999}", "((a*)*)*$", "#/$defs/a"),
)
KEYWORDS = (
    *("type", "properties", "required", "items", "prefixItems", "minItems", "maxItems", "anyOf", "oneOf"),
    *("allOf", "not", "$ref", "$defs", "enum", "const", "pattern", "format", "minimum", "maximum"),
    *("exclusiveMinimum", "minLength", "maxLength", "additionalProperties", "definitions", "if"),
    *("multipleOf", "patternProperties"),
)
TYPES = (
    *("object", "array", "string", "integer", "number", "boolean", "null", "nothing"),
    *(["string", "null"], 7),
)


def broken_answers(chat: Chat, templates: list[str], rng: random.Random) -> None:
    """Each is read piece by piece, as it is written."""
    chat("open", template=rng.choice(templates), tool_template="", bos="<s>", eos="</s>")
    asked = {"messages": [USER], "tools": TOOLS, "parallel_tool_calls": True}
    made = chat("apply", **asked, tool_choice=rng.choice(["auto", "required"]))
    written = as_written(chat)
    for _ in range(ANSWERS_OF_A_SEED):
        text = broken(written, rng)
        chat("begin", reader="a", format=made["format"])
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(12)))
        with contextlib.suppress(ChatLayerError):
            for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
                chat("read", reader="a", text=text[begin:end], is_last=end == len(text))


def as_written(chat: Chat) -> str:
    """A chat whose answer has reasoning and calls, by the template that is open."""
    messages, tools = [USER, ANSWER], TOOLS
    try:
        made = chat(
            "apply", messages=messages, tools=tools, parallel_tool_calls=True, add_generation_prompt=False
        )
    except ChatLayerError:
        return json.dumps(ANSWER)
    return str(made["prompt"])


def broken(written: str, rng: random.Random) -> str:
    return mutated(written[len(written) // 3 * rng.randrange(3) :], PIECES, rng)


def hostile_template(chat: Chat, templates: list[str], rng: random.Random) -> None:
    chat("open", template=hostile_source(templates, rng), tool_template="", bos="", eos="")
    chat("apply", messages=[USER, ANSWER, USER], tools=TOOLS)


def hostile_source(templates: list[str], rng: random.Random) -> str:
    text = rng.choice(templates)
    if rng.random() < 0.7:  # between two blocks it can still be read
        ends = [0, *(match.end() for match in re.finditer("[%}]}", text))]
        at = rng.choice(ends)
        return text[:at] + rng.choice(TEMPLATE_PIECES) + text[at:]
    return mutated(text, TEMPLATE_PIECES, rng)


def hostile_schema(chat: Chat, templates: list[str], rng: random.Random) -> None:
    chat("grammar", schema=schema_text(rng))


def schema_text(rng: random.Random) -> str:
    schema = json.dumps(any_schema(rng, rng.choice([2, 4, 6])))
    if rng.random() < 0.1:
        depth = rng.choice([10, 95])  # of more levels Skein reads none
        schema = '{"items": ' * depth + "{}" + "}" * depth
    if rng.random() < 0.2:
        schema = mutated(schema, PIECES, rng)
    return schema


def any_schema(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(VALUES)
    schema: dict[str, Any] = {"type": rng.choice(TYPES)} if rng.random() < 0.7 else {}
    for keyword in rng.sample(KEYWORDS, rng.randrange(5)):
        match keyword:
            case "properties" | "$defs" | "definitions" | "patternProperties":
                schema[keyword] = {name: any_schema(rng, depth - 1) for name in rng.sample('abc"\\', 3)}
            case "items" | "not" | "additionalProperties" | "if":
                schema[keyword] = any_schema(rng, depth - 1)
            case "anyOf" | "oneOf" | "allOf" | "prefixItems":
                schema[keyword] = [any_schema(rng, depth - 1) for _ in range(rng.randrange(4))]
            case _:
                schema[keyword] = rng.choice(VALUES)
    return schema


def mutated(text: str, pieces: tuple[str, ...], rng: random.Random) -> str:
    for _ in range(rng.randrange(1, 8)):
        at, length = rng.randrange(len(text) + 1), rng.randrange(1, 40)
        match rng.randrange(5):
            case 0:
                text = text[:at] + text[at + length :]
            case 1:
                text = text[:at] + rng.choice(pieces) * rng.choice([1, 1, 2, 300]) + text[at:]
            case 2:
                text = text[:at] + text[at : at + length] * rng.choice([2, 50]) + text[at + length :]
            case 3:
                text = (
                    text[:at]
                    + "".join(chr(rng.randrange(0x500)) for _ in range(length))
                    + text[at + length :]
                )
            case 4:
                text = text[:at] if at else text
    return text


KINDS = (broken_answers, *[hostile_template] * 2, *[hostile_schema] * 17)


def work(connection: Connection, library: Path, templates: list[str]) -> None:
    """Answers each seed with what became of it. Dies of what Skein would end."""
    chat = ChatLayer(library)
    if "LD_PRELOAD" not in os.environ:  # sanitizers map terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    while True:
        seed: int = connection.recv()
        _limit_cpu()
        try:
            KINDS[seed % len(KINDS)](chat, templates, random.Random(seed))
            connection.send("answered")
        except ChatLayerError:
            connection.send("refused")
        except MemoryError:
            connection.send("out of memory")


def _limit_cpu() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + 1 + MAX_CPU_S
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


class Worker:
    def __init__(self, library: Path, templates: list[str]) -> None:
        self._given = library, templates
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, *self._given), daemon=True)
        self._process.start()
        theirs.close()

    def outcome(self, seed: int) -> str:
        self._connection.send(seed)
        try:
            return str(self._connection.recv())
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self._start()
            return "ended after too long" if code == -signal.SIGXCPU else f"DIED ({code})"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10_500)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--templates", type=Path, default=TEMPLATES, metavar="FOLDER")
    parser.add_argument("--library", type=Path, default=library_path(), metavar="PATH")
    options = parser.parse_args()
    templates = [path.read_text(encoding="utf-8") for path in sorted(options.templates.glob("*.jinja"))]
    worker = Worker(options.library, templates)
    counts: Counter[tuple[str, str]] = Counter()
    slowest = 0.0
    for seed in range(options.first, options.first + options.seeds):
        started = time.monotonic()
        outcome = worker.outcome(seed)
        slowest = max(slowest, time.monotonic() - started)
        counts[KINDS[seed % len(KINDS)].__name__, outcome] += 1
        if outcome not in ("answered", "refused", "out of memory"):
            print(f"seed {seed}, {KINDS[seed % len(KINDS)].__name__}: {outcome}", flush=True)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind}: {count} {outcome}")
    print(f"the slowest took {slowest:.1f} s")
    return 1 if any(outcome.startswith("DIED") for _, outcome in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
