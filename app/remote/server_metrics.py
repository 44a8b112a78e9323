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
_SECOND = "s"  # here counted as one of the totals
# A gauge, or what a total grew by for what others grew by together.
_LLAMA_SERVER = (
    (FigureKind.RUNNING, "llamacpp:requests_processing"),
    (FigureKind.WAITING, "llamacpp:requests_deferred"),
    (
        FigureKind.PREFIX_HITS,
        "llamacpp:prompt_tokens_cached_total",
        "llamacpp:prompt_tokens_cached_total",
        "llamacpp:prompt_tokens_total",
    ),
    (FigureKind.BATCH, "llamacpp:n_busy_slots_per_decode"),
    (
        FigureKind.ACCEPTED,
        "llamacpp:spec_decode_num_accepted_tokens_total",
        "llamacpp:spec_decode_num_draft_tokens_total",
    ),
    (FigureKind.PROMPT_RATE, "llamacpp:prompt_tokens_total", _SECOND),
    (FigureKind.ANSWER_RATE, "llamacpp:tokens_predicted_total", _SECOND),
)
_VLLM = (
    (FigureKind.RUNNING, "vllm:num_requests_running"),
    (FigureKind.WAITING, "vllm:num_requests_waiting"),
    (FigureKind.KV_USE, "vllm:kv_cache_usage_perc"),
    (FigureKind.PREFIX_HITS, "vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
    (FigureKind.BATCH, "vllm:iteration_tokens_total_sum", "vllm:iteration_tokens_total_count"),
    (
        FigureKind.ACCEPTED,
        "vllm:spec_decode_num_accepted_tokens_total",
        "vllm:spec_decode_num_draft_tokens_total",
    ),
    (FigureKind.PROMPT_RATE, "vllm:prompt_tokens_total", _SECOND),
    (FigureKind.ANSWER_RATE, "vllm:generation_tokens_total", _SECOND),
    (
        FigureKind.FIRST_TOKEN_S,
        "vllm:time_to_first_token_seconds_sum",
        "vllm:time_to_first_token_seconds_count",
    ),
)
_SGLANG = (
    (FigureKind.RUNNING, "sglang:num_running_reqs"),
    (FigureKind.WAITING, "sglang:num_queue_reqs"),
    (FigureKind.KV_USE, "sglang:token_usage"),
    (FigureKind.PREFIX_HITS, "sglang:cached_tokens_total", "sglang:prompt_tokens_total"),
    (FigureKind.ACCEPTED, "sglang:spec_accept_rate"),
    (FigureKind.PROMPT_RATE, "sglang:prompt_tokens_total", _SECOND),
    (FigureKind.ANSWER_RATE, "sglang:gen_throughput"),
    (
        FigureKind.FIRST_TOKEN_S,
        "sglang:time_to_first_token_seconds_sum",
        "sglang:time_to_first_token_seconds_count",
    ),
)
_RULES = {
    Program.VLLM: _VLLM,
    Program.SGLANG: _SGLANG,
    Program.LLAMA_SERVER: _LLAMA_SERVER,
    Program.SKEIN: _LLAMA_SERVER,
}
_SHARES = (FigureKind.KV_USE, FigureKind.ACCEPTED)  # of several engines, the mean


class ServerMetrics:
    """Knows what was told before, so that totals become rates."""

    def __init__(self, program: Program) -> None:
        self._rules: tuple[tuple[Any, ...], ...] = _RULES.get(program, ())
        self._before: Mapping[str, list[float]] = {}

    def figures(self, metrics: Any, slots: Any) -> tuple[ServerFigure, ...]:
        """From the text of /metrics and the list of /slots; None where there is no such."""
        now = _read(metrics) if isinstance(metrics, str) else {}
        found = [self._figure(now, *rule) for rule in self._rules if all(name in now for name in rule[1:])]
        self._before = now
        if not found and isinstance(slots, list):
            running = sum(isinstance(one, dict) and one.get("is_processing") is True for one in slots)
            found = [ServerFigure(FigureKind.RUNNING, running, "/slots is_processing")]
        return tuple(found)

    def _figure(self, now: Mapping[str, list[float]], kind: FigureKind, of: str, *per: str) -> ServerFigure:
        source = f"{of} / {' + '.join(per)}" if per else of
        if not per:
            total = fsum(now[of])
            return ServerFigure(kind, total / len(now[of]) if kind in _SHARES else total, source)
        part, whole = self._growth(now, of), fsum(self._growth(now, name) for name in per)
        return ServerFigure(kind, part / whole if whole > 0 and part >= 0 else None, source)

    def _growth(self, now: Mapping[str, list[float]], name: str) -> float:
        """0 the first time."""
        return fsum(now[name]) - fsum(self._before[name]) if name in self._before else 0.0


def _read(metrics: str) -> dict[str, list[float]]:
    """The samples of each name, whatever their labels."""
    found: dict[str, list[float]] = defaultdict(list)
    for name, value in _LINE.findall(metrics):
        with suppress(ValueError):
            found[name].append(float(value))
    found[_SECOND] = [time.monotonic()]
    return {name: values for name, values in found.items() if all(map(isfinite, values))}
