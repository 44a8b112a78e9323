"""Eight chats answer, and then rows of a table come beside them: how much longer do their tokens take?

For each `Speed`. A prompt may make chats wait so many times as long; rows are prompts, most of them short.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

from app.cli import headless
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.commands import SetSpeed, Submit
from app.protocol.load import LoadParams, Speed
from app.protocol.request import ROWS, Caller, Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.rows.answer_form import AnswerForm, Kind
from app.rows.job import Job, JobSettings
from app.rows.runner import Runner, shared_tokens
from tests.benchmarks.figures import Verdict
from tests.benchmarks.gguf_0_6b import cached_gguf
from tests.benchmarks.intrusion import WANTED_GAP
from tests.benchmarks.rows import CHOICES, N_CTX_OF_SLOT, PROMPT, values_of

NUM_CALM, NUM_BESIDE = 32, 64  # tokens of each chat before the rows come, and beside them
NUM_ROWS = 2000  # more than are answered in that time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="another GGUF (default: random weights, 0.6B, Q4_K_M)")
    parser.add_argument("--threads", type=int, default=0, help="0: as Skein chooses")
    parser.add_argument("--chats", type=int, default=8)
    parser.add_argument("--slots", type=int, default=16)


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    for speed in Speed:
        with tempfile.TemporaryDirectory() as name:
            calm, beside, num_rows = _gaps(options, speed, Path(name))
        p95 = quantiles(beside, n=20)[-1]
        calm_ms, beside_ms, p95_ms = (1000 * value for value in (median(calm), median(beside), p95))
        print(f"  {speed}: a token each {calm_ms:.0f} ms alone, {beside_ms:.0f} beside rows ", end="")
        print(f"(95%: {p95_ms:.0f}); {num_rows} rows answered meanwhile", flush=True)
        if wanted := WANTED_GAP.get(speed):
            verdict.at_most(f"{speed}: gap beside rows (95%) over the one alone", p95 / median(calm), wanted)
    return verdict.exit_code


def _gaps(options: argparse.Namespace, speed: Speed, folder: Path) -> tuple[list[float], list[float], int]:
    """Seconds between two tokens of a chat, alone and beside rows, and how many of these were answered."""
    model = options.model or cached_gguf()
    table = folder / "table.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["text"], *([value] for value in values_of(NUM_ROWS))])
    settings = JobSettings(
        str(table), PROMPT, AnswerForm(Kind.CHOICE, CHOICES), model=str(model), temperature=0.0
    )
    job, chat_layer = Job.claimed(folder, settings), ChatWorker()
    for _ in job.read():
        pass
    n_ctx = N_CTX_OF_SLOT * options.slots
    params = LoadParams(model, n_ctx=n_ctx, n_seq_max=options.slots, n_threads=options.threads)
    times: dict[str, list[float]] = defaultdict(list)
    begun: list[float] = []  # when the rows were

    def take() -> None:
        for report in loop.take_reports():
            for output in report.outputs:
                runner.take(output)
                if output.token_ids and output.chat_id in chats:
                    times[output.chat_id].append(report.started_at)
        runner.save()
        num_least = min((len(times[chat]) for chat in chats), default=0)
        if num_least >= NUM_CALM and not begun:
            begun.append(max(times[chat][-1] for chat in chats))
            loop.use_prompts(begin)
        if begun and runner.num_shared_tokens:
            for request in runner.next_requests(options.slots - len(chats) + 2 - runner.num_running):
                loop.post(Submit(request))
        if num_least >= NUM_CALM + NUM_BESIDE:
            loop.stop()

    def begin(prompts: PromptBuilder) -> None:
        request = runner.begin(shared_tokens(prompts, runner.beginning))
        assert request
        loop.post(Submit(request))

    sampling = SamplingParams(temperature=0.0, ignore_eos=True)
    chats = {
        f"chat {number}": f"Write a very long story about the number {number}."
        for number in range(options.chats)
    }
    with headless.open_engine(params, lambda _fraction: True, take) as (info, loop):
        runner = Runner(job, info.sampling, chat_layer, caller=Caller(ROWS))
        loop.post(SetSpeed(speed))
        for chat, text in chats.items():
            loop.post(Submit(Request(chat, chat, (Message(Role.USER, text),), sampling)))
        loop.run()
    chat_layer.close()
    num_rows = job.counts().num_done
    job.close()
    gaps = [pair for chat in chats for pair in pairwise(times[chat])]
    calm = [later - sooner for sooner, later in gaps if later <= begun[0]]
    return calm, [later - sooner for sooner, later in gaps if sooner >= begun[0]], num_rows
