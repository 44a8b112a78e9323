"""Three chats are talking, and somebody pastes a long prompt: how long do they stop, how long does it take?

Each round measures the prompt alone, first in a bare `llama_decode` loop over several chunk sizes, then in
the engine, and after that lets it arrive beside the three, once for each `Speed`. The first round is not
counted: in it the engine learns how long steps take here.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from dataclasses import dataclass

import numpy as np

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.media.rows import Chunk, MediaPart, row_ids
from app.engine.prompt import Prompt
from app.protocol.commands import SetSpeed
from app.protocol.load import Speed
from app.protocol.media import Media, MediaKind
from tests.benchmarks import bare_loop, workload
from tests.benchmarks.figures import Verdict, in_runs, show, show_ms
from tests.benchmarks.workload import TimedEngine
from tests.fake_media_encoder import FakeMediaEncoder

# The longest gap over the calm one; the prompt's time over that at the fastest chunk alone.
WANTED_GAP = {Speed.RESPONSIVE: 3.0, Speed.BALANCED: 10.0}
WANTED_PROMPT = {Speed.RESPONSIVE: 2.5, Speed.BALANCED: 1.4, Speed.THROUGHPUT: 1.15}
TALKING = ["ann", "bob", "cat"]
INTRUDER = "intruder"
N_CTX = 6144


@dataclass(frozen=True)
class Intrusion:
    """Seconds. `calm_gap_s` is the median gap between two tokens of one chat before the prompt came."""

    calm_gap_s: float
    longest_calm_gap_s: float  # what the machine itself adds to a step now and then
    p95_gap_s: float  # while the prompt is computed; beyond it are steps that something else held up
    longest_gap_s: float
    prompt_s: float
    chunks: tuple[int, ...]


@dataclass(frozen=True)
class Round:
    bare_s: dict[int, float]  # by chunk size
    alone_s: float
    intrusions: dict[Speed, Intrusion]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--history", type=int, default=200, help="tokens of each talking chat")
    parser.add_argument("--prompt-tokens", type=int, default=1024)
    parser.add_argument("--calm-steps", type=int, default=24, help="measured before each intrusion")
    parser.add_argument("--picture", action="store_true", help="as rows of a picture that is encoded already")
    parser.add_argument("--chunks", type=int, nargs="+", default=[32, 64, 128, 256, 512], metavar="N")


def run(options: argparse.Namespace) -> int:
    with workload.opened_backend(options, n_ctx=N_CTX) as backend:
        if options.picture:
            backend.media_encoder = FakeMediaEncoder(options.prompt_tokens, width=backend.n_embd_inp)  # type: ignore[assignment]
        engine = Engine(backend)
        what = "picture" if options.picture else "prompt"
        print(
            f"three chats of {options.history} tokens talk, a {what} of {options.prompt_tokens} arrives; "
            f"{options.repeats} rounds and one to learn from"
        )
        rounds = [_round(engine, backend, number, options) for number in range(options.repeats + 1)][1:]
        engine.close()
    verdict = Verdict()
    best_chunk = _show_alone(rounds, options.chunks)
    for speed in Speed:
        _judge(verdict, speed, rounds, best_chunk)
    return verdict.exit_code


def _round(engine: Engine, backend: LlamaBackend, number: int, options: argparse.Namespace) -> Round:
    prompt = workload.token_ids(options.prompt_tokens, f"{INTRUDER} {number}")
    bare_s = {chunk: bare_loop.first_token_s(backend, prompt, chunk) for chunk in options.chunks}
    alone_s = _alone_s(TimedEngine(engine), prompt)
    intrusions = {}
    for speed in Speed:
        timed = TimedEngine(engine)
        for chat_id in TALKING:  # new ones: what the others hold makes a prompt slower, and they grow
            history = workload.token_ids(options.history, f"{chat_id} {number} {speed}")
            timed.ask(chat_id, history, max_tokens=N_CTX)
        asked = _picture(options.prompt_tokens, f"{number} {speed}") if options.picture else prompt
        intrusions[speed] = _intrude(timed, speed, asked, options.calm_steps)
        timed.close_all()
    return Round(bare_s, alone_s, intrusions)


def _alone_s(timed: TimedEngine, prompt: list[int]) -> float:
    timed.ask(INTRUDER, prompt, max_tokens=1, keep_cells=False)
    timed.finish()
    return timed.first_token_s(INTRUDER)


def _picture(num_rows: int, name: str) -> Prompt:
    """A prompt that is a picture, another one for each name, and some tokens behind it."""
    media = Media(MediaKind.PICTURE, name, b"", 1, 1)
    part = MediaPart((), num_rows, num_rows)
    tokens = workload.token_ids(4, name)
    return Prompt((*row_ids(media, 0, part), *tokens), chunks=(Chunk(0, media, 0, part),))


def _intrude(timed: TimedEngine, speed: Speed, prompt: list[int] | Prompt, calm_steps: int) -> Intrusion:
    timed.engine.obey(SetSpeed(speed))
    timed.step_until_all_talk(TALKING)
    begun = len(timed.tokens_at[TALKING[0]])
    timed.step_until(lambda: len(timed.tokens_at[TALKING[0]]) > begun + calm_steps)
    calm_from = timed.tokens_at[TALKING[0]][begun]
    num_reports = len(timed.reports)
    timed.ask(INTRUDER, prompt, max_tokens=1, keep_cells=False)
    asked_at = timed.asked_at[INTRUDER]
    timed.step_until_all_talk([INTRUDER])
    first_token_at = timed.tokens_at[INTRUDER][0]
    timed.step_until(lambda: all(timed.tokens_at[chat_id][-1] >= first_token_at for chat_id in TALKING))
    calm = [gap for gap, end in _gaps(timed, calm_from, asked_at) if end <= asked_at]
    gaps = [gap for gap, _ in _gaps(timed, asked_at, first_token_at)]
    return Intrusion(
        statistics.median(calm),
        max(calm),
        float(np.percentile(gaps, 95)),
        max(gaps),
        timed.first_token_s(INTRUDER),
        tuple(
            span.num_rows
            for report in timed.reports[num_reports:]
            for span in report.spans
            if span.chat_id == INTRUDER
        ),
    )


def _gaps(timed: TimedEngine, start: float, end: float) -> list[tuple[float, float]]:
    """Seconds between two tokens of one talking chat, wherever they overlap with `start` … `end`, and when
    each gap ended.
    """
    return [
        (after - before, after)
        for chat_id in TALKING
        for before, after in itertools.pairwise(timed.tokens_at[chat_id])
        if before < end and after > start
    ]


# What is printed.


def _show_alone(rounds: list[Round], chunks: list[int]) -> int:
    """Returns the fastest chunk."""
    print("\nthe prompt alone")
    took_ms = {
        chunk: show_ms(f"bare loop, chunks of {chunk}", [one.bare_s[chunk] for one in rounds], digits=0)
        for chunk in chunks
    }
    best = min(took_ms, key=lambda chunk: took_ms[chunk])
    show_ms("the engine", [one.alone_s for one in rounds], digits=0)
    show("the engine / fastest chunk", [one.alone_s / one.bare_s[best] for one in rounds], "", 3)
    print(f"  the fastest chunk is {best}")
    return best


def _judge(verdict: Verdict, speed: Speed, rounds: list[Round], best_chunk: int) -> None:
    print(f"\n{speed}")
    intrusions = [one.intrusions[speed] for one in rounds]
    show_ms("calm gap", [one.calm_gap_s for one in intrusions])
    show_ms("95 of 100 gaps while it is computed, at most", [one.p95_gap_s for one in intrusions])
    show_ms("longest gap while it is computed", [one.longest_gap_s for one in intrusions])
    show_ms("the prompt", [one.prompt_s for one in intrusions], digits=0)
    for one in intrusions:
        print(f"  chunks: {in_runs(one.chunks)}")
    show(
        "longest calm gap / calm gap", [one.longest_calm_gap_s / one.calm_gap_s for one in intrusions], "", 2
    )
    show("95 of 100 gaps / calm gap", [one.p95_gap_s / one.calm_gap_s for one in intrusions], "", 2)
    gap = show("longest gap / calm gap", [one.longest_gap_s / one.calm_gap_s for one in intrusions], "", 2)
    prompt = show(
        "the prompt / alone at the fastest",
        [one.intrusions[speed].prompt_s / one.bare_s[best_chunk] for one in rounds],
        "",
        3,
    )
    if speed in WANTED_GAP:
        verdict.at_most(f"{speed}: longest gap / calm gap", gap, WANTED_GAP[speed])
    verdict.at_most(f"{speed}: the prompt / alone", prompt, WANTED_PROMPT[speed])
