"""Thousands of requests one after another: the last are as fast as the first, and nothing is left behind.

After each request the same work is done in a bare `llama_decode` loop. That is the control: where the machine
itself grows slower, both do. What is on the heap is asked of the system, not of Python.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.engine.engine import Engine
from app.engine.last_turns import MAX_REMEMBERED_CHATS
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.native_library import native_objects
from app.engine.prompt import Prompt
from app.protocol.output import FinishReason
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.benchmarks import bare_loop, workload
from tests.benchmarks.figures import Verdict, show, show_ms

WANTED_SLOWDOWN = 1.10
WANTED_BYTES = 256.0  # anonymous memory a request
N_CTX = 2048
NUM_SAMPLES = 100  # of memory, in one repeat
WARM_UP = 2 * MAX_REMEMBERED_CHATS  # requests before the first repeat: what is bounded has reached its bound

Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Churn:
    request_s: Seconds  # of each request
    control_s: Seconds
    bytes_per_request: float
    new_objects: dict[str, int]  # native ones, more than before

    @property
    def slowdown(self) -> float:
        return _slowdown(self.request_s) / _slowdown(self.control_s)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--requests", type=int, default=10_000, help="each repeat")
    parser.add_argument("--tokens", type=int, default=4, help="generated per request")
    parser.add_argument(
        "--hibernate", action="store_true", help="put each chat to sleep after its answer, and close it then"
    )


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    with workload.opened_backend(options, n_ctx=N_CTX, model=paths.starter_model()) as backend:
        engine = Engine(backend)
        print(f"{options.requests} requests of {options.tokens} tokens one after another, each its own chat")
        _churn(engine, backend, min(WARM_UP, options.requests), options)
        repeats = [_churn(engine, backend, options.requests, options) for _ in range(options.repeats)]
        engine.close()
    show_ms("a request (median)", [float(np.median(one.request_s)) for one in repeats], digits=3)
    show_ms("the control (median)", [float(np.median(one.control_s)) for one in repeats], digits=3)
    show("requests: last / first fifth", [_slowdown(one.request_s) for one in repeats], "", 3)
    show("control: last / first fifth", [_slowdown(one.control_s) for one in repeats], "", 3)
    slowdown = show("slowdown against the control", [one.slowdown for one in repeats], "", 3)
    num_bytes = show("anonymous memory a request", [one.bytes_per_request for one in repeats], "bytes")
    verdict.at_most("last / first fifth against the control", slowdown, WANTED_SLOWDOWN)
    verdict.at_most("bytes a request", num_bytes, WANTED_BYTES)
    verdict.equal("native objects left", [one.new_objects for one in repeats], [{}] * len(repeats))
    return verdict.exit_code


def _churn(engine: Engine, backend: LlamaBackend, num_requests: int, options: argparse.Namespace) -> Churn:
    # Filled, so that their memory is taken before the first request.
    request_s, control_s = np.full((2, num_requests), np.nan)
    sampled_at, num_bytes = np.full((2, NUM_SAMPLES), np.nan)
    before = Counter(native_objects)
    for sample, numbers in enumerate(np.array_split(np.arange(num_requests), NUM_SAMPLES)):
        for number in map(int, numbers):
            one = _request(number, options)
            prompt = engine.prompts.build(one)
            request_s[number] = _answer_s(engine, one, prompt, options.hibernate)
            control_s[number] = bare_loop.answers(backend, [list(prompt.token_ids)], options.tokens).total_s
        sampled_at[sample] = (sample + 1) * num_requests / NUM_SAMPLES
        num_bytes[sample] = workload.anonymous_bytes()
    slope = np.polyfit(sampled_at, num_bytes, 1)[0]
    return Churn(request_s, control_s, float(slope), dict(native_objects - before))


def _request(number: int, options: argparse.Namespace) -> Request:
    return Request(
        request_id=f"request-{number}",
        chat_id=f"chat-{number}",
        messages=(Message(Role.USER, f"What is {number % 89 + 10} + {number % 83 + 10}?"),),
        sampling=SamplingParams(seed=number),
        max_tokens=options.tokens,
        keep_cells=options.hibernate,
    )


def _answer_s(engine: Engine, one: Request, prompt: Prompt, hibernate: bool) -> float:
    began = time.perf_counter()
    engine.add_request(one, prompt)
    finish = None
    while engine.has_work:
        for output in engine.step().outputs:
            finish = output.finish_reason
    if hibernate:
        was_saved = engine.hibernate(one.chat_id)
        assert was_saved, "the chat was not hibernated"
        engine.forget(one.chat_id)
    took_s = time.perf_counter() - began
    assert finish is FinishReason.LENGTH, f"an answer ended by {finish}"
    return took_s


def _slowdown(seconds: Seconds) -> float:
    fifth = len(seconds) // 5
    return float(np.median(seconds[-fifth:]) / np.median(seconds[:fifth]))
