"""Measures how many times as fast a model answers with its draft model, in a process that can be killed.

Both runs draft from the chat's own text, too, so that only what the draft model adds is told.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import psutil

from app.engine.engine import Engine
from app.protocol.errors import EngineError, RequestError
from app.protocol.output import Usage
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.protocol.wire import LOAD_PARAMS
from app.system import worker
from app.system.said import said
from app.system.worker import Answer, Question

if TYPE_CHECKING:
    from app.engine.llama.backend import LlamaBackend

NUM_TOKENS = 40
EDIT = """Rename `total` to `amount` in this function. Write only the changed function.

def bill(items, rate):
    total = 0
    for item in items:
        total += item.price * item.count
    total += total * rate
    return round(total, 2)
"""
FREE = "Why does the sky change its colour in the evening? Explain it to a child."


def answer(asked: Question) -> Answer:
    """How many times as fast, for each text, and how many cores others used.

    Raises EngineError or RequestError.
    """
    from app.engine.llama.loading import open_llama_backend

    began, others_s = time.perf_counter(), _others_s()
    with open_llama_backend(LOAD_PARAMS.unpacked(asked.parts)) as backend:
        together = _token_times(backend)
        backend.draft = None
        alone = _token_times(backend)
    speedups = [slow / fast for slow, fast in zip(alone, together, strict=True)]
    return ({"speedups": speedups, "others": (_others_s() - others_s) / (time.perf_counter() - began)},)


def _others_s() -> float:
    """Processor seconds of all other processes since the start of the machine."""
    times = psutil.cpu_times()
    return float(times.user + times.system + getattr(times, "nice", 0.0)) - time.process_time()


def _token_times(backend: LlamaBackend) -> list[float]:
    """Of both texts, the better of two: other load on the machine only adds to them.

    The first answer is not counted: by it the engine learns what draft tokens cost.
    """
    with contextlib.closing(Engine(backend)) as engine:
        _, *times = [_token_s(engine, text) for text in (EDIT, EDIT, FREE, EDIT, FREE)]
    return [min(times[::2]), min(times[1::2])]


def _token_s(engine: Engine, text: str) -> float:
    """Seconds a token, without the first one, which is part of the prompt's time."""
    request = Request(
        *("trial", "trial", (Message(Role.USER, text),)),
        sampling=SamplingParams(temperature=0.0),
        max_tokens=NUM_TOKENS,
        keep_cells=False,
        template_variables='{"enable_thinking": false}',
    )
    engine.add_request(request)
    usage = Usage()
    while engine.has_work:
        usage = next((output.usage for output in engine.step().outputs), usage)
    if usage.num_generated_tokens < NUM_TOKENS // 2:
        raise EngineError(said("Its answers are too short to be measured."))
    return usage.decode_s / (usage.num_generated_tokens - 1)


if __name__ == "__main__":
    worker.stand_back()
    worker.limit()
    worker.Parent().serve(answer, EngineError, RequestError)
