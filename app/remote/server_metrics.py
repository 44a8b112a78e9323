"""Reads what servers tell of their work, each by its own names: of /metrics, else of /slots.

Names: llama-server's README, docs.vllm.ai (usage/metrics), docs.sglang.io (references/production_metrics).
"""

import re
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from math import fsum, isfinite
from typing import Any

from app.protocol.server_figures import FigureKind, ServerFigure
from app.remote.introduction import Program

_LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{.*\})? +(\S+)", re.MULTILINE)
_SECONDS = "s"  # counted here as one of the totals
# A gauge, or how much a total grew for each of what others grew by together.
_LLAMA_SERVER = """
    running: llamacpp:requests_processing
    waiting: llamacpp:requests_deferred
    prefix hits: llamacpp:prompt_tokens_cached_total / llamacpp:prompt_tokens_cached_total + llamacpp:prompt_tokens_total
    batch: llamacpp:n_busy_slots_per_decode
    accepted: llamacpp:spec_decode_num_accepted_tokens_total / llamacpp:spec_decode_num_draft_tokens_total
    prompt rate: llamacpp:prompt_tokens_total / llamacpp:prompt_seconds_total
    answer rate: llamacpp:tokens_predicted_total / llamacpp:tokens_predicted_seconds_total"""  # noqa: E501
_VLLM = """
    running: vllm:num_requests_running
    waiting: vllm:num_requests_waiting
    kv use: vllm:kv_cache_usage_perc
    prefix hits: vllm:prefix_cache_hits_total / vllm:prefix_cache_queries_total
    batch: vllm:iteration_tokens_total_sum / vllm:iteration_tokens_total_count
    accepted: vllm:spec_decode_num_accepted_tokens_total / vllm:spec_decode_num_draft_tokens_total
    prompt rate: vllm:prompt_tokens_total / s
    answer rate: vllm:generation_tokens_total / s
    first token: vllm:time_to_first_token_seconds_sum / vllm:time_to_first_token_seconds_count"""
_SGLANG = """
    running: sglang:num_running_reqs
    waiting: sglang:num_queue_reqs
    kv use: sglang:token_usage
    prefix hits: sglang:cached_tokens_total / sglang:prompt_tokens_total
    accepted: sglang:spec_accept_rate
    prompt rate: sglang:prompt_tokens_total / s
    answer rate: sglang:gen_throughput
    first token: sglang:time_to_first_token_seconds_sum / sglang:time_to_first_token_seconds_count"""
_RULES = {Program.VLLM: _VLLM, Program.SGLANG: _SGLANG, Program.UNKNOWN: ""}
_SHARES = (FigureKind.KV_USE, FigureKind.ACCEPTED)  # of several engines, the mean
_Samples = Mapping[str, list[float]]


class ServerMetrics:
    """Knows what was told before, so that totals become rates."""

    def __init__(self, program: Program) -> None:
        lines = _RULES.get(program, _LLAMA_SERVER).strip().splitlines()
        self._rules = [line.strip().split(": ") for line in lines]
        self._before: _Samples = {}

    def figures(self, metrics: Any, slots: Any) -> tuple[ServerFigure, ...]:
        """From the text of /metrics and the list of /slots; anything else where there is no such."""
        now = _read(metrics) if isinstance(metrics, str) else {}
        found = [self._figure(now, FigureKind(kind), source) for kind, source in self._rules]
        self._before = now
        if not any(found) and isinstance(slots, list):
            running = sum(isinstance(one, dict) and one.get("is_processing") is True for one in slots)
            found = [ServerFigure(FigureKind.RUNNING, running, "/slots is_processing")]
        return tuple(filter(None, found))

    def _figure(self, now: _Samples, kind: FigureKind, source: str) -> ServerFigure | None:
        of, *per = re.split(" / | \\+ ", source)
        if not now.keys() >= {of, *per}:
            return None
        if not per:
            value = fsum(now[of]) / (len(now[of]) if kind in _SHARES else 1)
            return ServerFigure(kind, value, source)
        part, whole = self._growth(now, of), fsum(self._growth(now, name) for name in per)
        return ServerFigure(kind, part / whole if whole > 0 and part >= 0 else None, source)

    def _growth(self, now: _Samples, name: str) -> float:
        """0 the first time."""
        return fsum(now[name]) - fsum(self._before.get(name, now[name]))


def _read(metrics: str) -> _Samples:
    """The samples of each name, whatever their labels."""
    found = defaultdict(list, {_SECONDS: [time.monotonic()]})
    for name, value in _LINE.findall(metrics):
        with suppress(ValueError):
            found[name].append(float(value))
    return {name: values for name, values in found.items() if all(map(isfinite, values))}
