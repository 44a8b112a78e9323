"""One instruction over many rows: tokens computed, rows a minute, memory, and llama-server asked the same.

Each row is one of three words after an instruction of some 600 tokens. A llama-server of the same sources as
Skein's library is asked by a loop of as many clients as it has slots: `--server`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import queue
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.figures import Verdict
from tests.benchmarks.gguf_0_6b import cached_gguf
from tests.benchmarks.workload import anonymous_bytes

CHOICES = ("praise", "complaint", "question")
GRAMMAR = "root ::= " + " | ".join(map(json.dumps, CHOICES))
RULES = (
    f"Rule {number}: a message about part {number} of a thing is what its last sentence says, not the first. "
    for number in range(1, 24)
)
PROMPT = (
    "Tell which of three kinds the message below is: praise, complaint or question. "
    f"{''.join(RULES)}\n\nMessage: {{text}}"
)
NUM_ALONE = 20  # rows that are answered alone, too
NUM_AGAIN, NUM_KILLS, KILLED_AFTER_S = 200, 3, (3.0, 12.0)  # rows of a run that is killed, and when
LEAST_FASTER = 2.5
MOST_OF_LEAST = 1.05  # prompt tokens computed, of the fewest possible
MOST_GROWTH_MB = 32.0  # of memory: context that is used for the first time counts, too
N_CTX_OF_SLOT = 2560  # random weights have a token for each letter
START_S = 120.0
Row = tuple[str, str]  # its text, and the answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="another GGUF (default: random weights, 0.6B, Q4_K_M)")
    parser.add_argument("--threads", type=int, default=0, help="0: as Skein chooses")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--server", type=Path, metavar="PATH", help="a llama-server to ask the same")
    parser.add_argument("--turns", type=int, default=3, help="of Skein and the server, one after the other")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    model = options.model or cached_gguf()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        values = values_of(options.rows)
        with (folder / "table.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["text"], *([value] for value in values)])
        command = _command(folder, model, options, options.slots)
        together, err, rss = _skein(folder, command)
        computed, total, shared = (_figure(err, pattern) for pattern in ("Prompts: ", " of ", "computed, "))
        rate = _figure(err, r" s, ")
        least = total - (options.rows - 1) * shared
        print(f"  Skein: {rate:,.1f} rows a minute, {computed:,.0f} prompt tokens computed of {total:,.0f}")
        verdict.at_most(
            f"prompt tokens computed, of the least possible ({least:,.0f})", computed / least, MOST_OF_LEAST
        )
        verdict.equal("each row is there once", [text for text, _ in together] == values, True)
        limit = ["--limit", str(NUM_ALONE)]
        alone, _, _ = _skein(folder, [*_command(folder, model, options, 1), "--seed", "1", *limit])
        verdict.equal("rows are answered as alone", alone == together[:NUM_ALONE], True)
        again = [*command, "--seed", "2", "--limit", str(NUM_AGAIN)]
        _kill(folder, again)
        is_same = _skein(folder, again)[0] == together[:NUM_AGAIN]
        verdict.equal(f"rows are the same after {NUM_KILLS} kills", is_same, True)
        print(f"  memory, MB: {' '.join(f'{one / 2**20:.0f}' for one in rss[:: len(rss) // 20 + 1])}")
        later = rss[len(rss) // 2 :]
        growth_mb = (max(later) - later[0]) / 2**20
        verdict.at_most("memory grows in the second half by, MB", growth_mb, MOST_GROWTH_MB)
        if options.server:
            answers, faster = [answer for _, answer in together], []
            for turn in range(options.turns):
                if turn:
                    _, err, _ = _skein(folder, [*command, "--seed", f"1{turn}"])
                    rate = _figure(err, r" s, ")
                faster.append(_beside(options, model, values, answers, rate))
            verdict.at_least("times as many rows a minute, median", median(faster), LEAST_FASTER)
        else:
            print("  llama-server: not asked. Name one that was built from the same sources: --server PATH")
    return verdict.exit_code


def values_of(num_rows: int) -> list[str]:
    return [f"{number}. {_message(number)}" for number in range(num_rows)]


def _message(number: int) -> str:
    words = random.Random(number)
    thing = words.choice(("lamp", "chair", "radio", "clock", "kettle", "bike", "tent", "drill"))
    return f"The {thing} {words.choice(['broke', 'shines', 'arrived', 'rattles', 'is great'])} after a week."


def _figure(text: str, before: str) -> float:
    found = re.search(rf"{before}([\d,.]+\d)", text)
    assert found, text
    return float(found[1].replace(",", ""))


def _command(folder: Path, model: Path, options: argparse.Namespace, num_slots: int) -> list[str]:
    context = N_CTX_OF_SLOT * num_slots
    command = [sys.executable, "-m", "app", "rows", str(folder / "table.csv"), "--prompt", PROMPT]
    command += ["--choices", ",".join(CHOICES), "--temperature", "0", "--model", str(model)]
    command += ["--slots", str(num_slots), "--ctx", str(context), "--threads", str(options.threads)]
    return [*command, "--no-settings", "--output", str(folder / "out.jsonl")]


def _started(folder: Path, command: list[str]) -> subprocess.Popen[str]:
    homes = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("DATA", "CONFIG", "CACHE", "STATE")}
    return subprocess.Popen(command, env=os.environ | homes, stderr=subprocess.PIPE, text=True)


def _skein(folder: Path, command: list[str]) -> tuple[list[Row], str, list[int]]:
    """The rows, the figures, and the memory as it went."""
    rss: list[int] = []
    with _started(folder, command) as process:
        while process.poll() is None:
            with suppress(OSError):  # it has just ended
                rss.append(anonymous_bytes(process.pid))
            time.sleep(1)
        assert process.stderr
        err = process.stderr.read()
    assert process.returncode == 0, err
    lines = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["text"], row["answer"]) for row in map(json.loads, lines)], err, rss


def _kill(folder: Path, command: list[str]) -> None:
    moments = random.Random(1)
    for _ in range(NUM_KILLS):
        with _started(folder, command) as process:
            time.sleep(moments.uniform(*KILLED_AFTER_S))
            process.kill()


def _beside(
    options: argparse.Namespace, model: Path, values: list[str], together: list[str], rate: float
) -> float:
    """How many times as fast Skein is, which answered `rate` rows a minute."""
    waiting: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
    for one in enumerate(values):
        waiting.put(one)
    answers, computed = [""] * len(values), [0] * len(values)

    def ask_all() -> None:
        while True:
            try:
                number, value = waiting.get_nowait()
            except queue.Empty:
                return
            answer = _post(address, "/v1/chat/completions", _body(PROMPT.replace("{text}", value)))
            answers[number] = answer["choices"][0]["message"]["content"]
            computed[number] = answer["timings"]["prompt_n"]

    with _serving(options, model) as address:
        began_at = time.monotonic()
        clients = [threading.Thread(target=ask_all) for _ in range(options.slots)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        rate_beside = 60 * len(values) / (time.monotonic() - began_at)
    same = sum(map(str.__eq__, answers, together))
    print(f"  Skein: {rate:,.1f} rows a minute; llama-server: {rate_beside:,.1f}, ", end="")
    print(f"{sum(computed):,} prompt tokens computed, {same} of {len(values)} answers the same", flush=True)
    return rate / rate_beside


def _body(text: str) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": text}],
        "grammar": GRAMMAR,
        "temperature": 0,
        "cache_prompt": True,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def _post(address: str, path: str, body: object) -> Any:
    asked = urllib.request.Request(
        address + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=START_S) as response:
        return json.load(response)


@contextmanager
def _serving(options: argparse.Namespace, model: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    context = N_CTX_OF_SLOT * options.slots
    command = [str(options.server), "-m", str(model), "--port", str(port), "--parallel", str(options.slots)]
    command += ["-c", str(context), "--jinja", *(["-t", str(options.threads)] if options.threads else [])]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_S
        while not _is_ready(address):
            assert process.poll() is None, "llama-server did not start"
            assert time.monotonic() < deadline, "llama-server took too long to start"
            time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False
