"""What a server learns from the engine's reports: totals since its start, and how far a prompt is.

Totals are written as Prometheus reads them, under llama-server's names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from app.protocol.output import Output, Usage
from app.protocol.report import Lease, SlotSnapshot, Span, StepReport

PREFIX = "llamacpp:"


@dataclass(frozen=True, slots=True)
class Speeds:
    """Tokens, and the seconds they took: of prompts, and of answers without their first token."""

    num_prompt_tokens: int = 0
    prompt_s: float = 0.0
    num_decoded_tokens: int = 0
    decode_s: float = 0.0


@dataclass(slots=True)
class Metrics:
    """Counts ended requests and computed tokens, the window's chats included: it is one engine."""

    num_prompt_tokens: int = 0  # computed
    num_cached_tokens: int = 0
    prompt_s: float = 0.0
    num_generated_tokens: int = 0
    num_decoded_tokens: int = 0  # without the first of each answer, which belongs to the prompt's time
    decode_s: float = 0.0
    num_drafted_tokens: int = 0
    num_accepted_tokens: int = 0  # of the drafted ones
    num_drafts: int = 0
    num_accepted_at: Counter[int] = field(default_factory=Counter)  # by place in the draft
    num_decodes: int = 0
    num_busy_slots: int = 0  # summed over the decodes
    longest: int = 0
    last: StepReport | None = None
    scraped: Speeds = Speeds()  # when they were asked for last

    def note(self, report: StepReport) -> None:
        self.last = report
        self.num_decodes += bool(report.spans)
        self.num_busy_slots += len(report.spans)
        for span in report.spans:
            self.num_drafts += span.num_drafted > 0
            self.num_drafted_tokens += span.num_drafted
            self.num_accepted_tokens += span.num_kept
            self.num_accepted_at.update(range(span.num_kept))
        for output in report.outputs:
            if output.finish_reason:
                self._note_end(output.usage)

    def _note_end(self, usage: Usage) -> None:
        if not usage.num_computed_tokens:
            return  # it never began
        self.num_cached_tokens += usage.num_cached_tokens
        self.num_prompt_tokens += usage.num_computed_prompt_tokens
        self.prompt_s += usage.prompt_s
        self.num_generated_tokens += usage.num_generated_tokens
        self.num_decoded_tokens += max(usage.num_generated_tokens - 1, 0)
        self.decode_s += usage.decode_s
        self.longest = max(self.longest, usage.num_prompt_tokens + usage.num_generated_tokens)

    def text(self, num_deferred: int) -> str:
        """`num_deferred` requests were not submitted to the engine yet.

        Speeds are those since the last call, as llama-server has them.
        """
        lines = []
        for kind, figures in (("counter", self._counters()), ("gauge", self._gauges(num_deferred))):
            for name, value, meaning in figures:
                lines += [f"# HELP {PREFIX}{name} {meaning}", f"# TYPE {PREFIX}{name} {kind}"]
                lines.append(f"{PREFIX}{name} {value:.10g}")
        lines += self._by_place()
        self.scraped = self._speeds
        return "\n".join([*lines, ""])

    def _by_place(self) -> Iterator[str]:
        """vLLM's counter, as llama-server writes it: nothing before a draft token was accepted."""
        name = f"{PREFIX}spec_decode_num_accepted_tokens_per_pos_total"
        if self.num_accepted_at:
            yield f"# HELP {name} Drafted tokens accepted, by their place in the draft."
            yield f"# TYPE {name} counter"
        for place, number in sorted(self.num_accepted_at.items()):
            yield f'{name}{{position="{place}"}} {number}'

    @property
    def _speeds(self) -> Speeds:
        return Speeds(self.num_prompt_tokens, self.prompt_s, self.num_decoded_tokens, self.decode_s)

    def _counters(self) -> list[tuple[str, float, str]]:
        return [
            ("prompt_tokens_total", self.num_prompt_tokens, "Prompt tokens computed, without cached ones."),
            ("prompt_tokens_cached_total", self.num_cached_tokens, "Prompt tokens that were there already."),
            ("prompt_seconds_total", self.prompt_s, "Time from a slot to the first token."),
            ("tokens_predicted_total", self.num_generated_tokens, "Tokens generated."),
            ("tokens_predicted_seconds_total", self.decode_s, "Time from the first token to the last."),
            ("n_decode_total", self.num_decodes, "Calls of llama_decode."),
            ("n_tokens_max", self.longest, "Tokens of the longest sequence, prompt and answer."),
            ("spec_decode_num_draft_tokens_total", self.num_drafted_tokens, "Tokens drafted."),
            ("spec_decode_num_accepted_tokens_total", self.num_accepted_tokens, "Drafted tokens accepted."),
            ("spec_decode_num_drafts_total", self.num_drafts, "Drafts verified."),
        ]

    def _gauges(self, num_deferred: int) -> list[tuple[str, float, str]]:
        num_running = num_cells = num_used = 0
        if self.last:
            num_running = sum(slot.is_running for slot in self.last.slots)
            num_deferred += self.last.num_waiting
            num_cells, num_used = self.last.cells.num_total, self.last.cells.num_used
        now, last = self._speeds, self.scraped
        prompt_speed = _quotient(now.num_prompt_tokens - last.num_prompt_tokens, now.prompt_s - last.prompt_s)
        decode_speed = _quotient(
            now.num_decoded_tokens - last.num_decoded_tokens, now.decode_s - last.decode_s
        )
        busy = _quotient(self.num_busy_slots, self.num_decodes)
        return [
            ("prompt_tokens_seconds", prompt_speed, "Prompt tokens/s since the last scrape."),
            ("predicted_tokens_seconds", decode_speed, "Tokens/s since the last scrape."),
            ("requests_processing", num_running, "Requests that have a slot."),
            ("requests_deferred", num_deferred, "Requests that wait for one."),
            ("n_busy_slots_per_decode", busy, "Sequences in a call of llama_decode, on average."),
            ("kv_cache_usage_ratio", _quotient(num_used, num_cells), "KV cells in use, of all: 1 is full."),
            ("kv_cache_tokens", num_used, "KV cells in use."),
        ]


def _quotient(count: float, of: float) -> float:
    return count / of if of > 0 else 0.0


@dataclass(frozen=True, slots=True)
class ProgressOutput(Output):
    """An output without text: its `usage` counts the prompt tokens done so far, of `num_total`."""

    num_total: int = 0

    @property
    def json(self) -> dict[str, Any]:
        """llama-server's figures."""
        return {
            "total": self.num_total,
            "cache": self.usage.num_cached_tokens,
            "processed": self.usage.num_prompt_tokens,
            "time_ms": round(self.usage.prompt_s * 1000),
        }


class PromptProgress:
    """The prefill of one request that asked for its progress."""

    def __init__(self) -> None:
        self._last: ProgressOutput | None = None

    def updates(self, report: StepReport, request_id: str) -> Iterator[ProgressOutput]:
        """Once when it got its slot, then after each step that computed some of it."""
        for lease in report.leases:
            if lease.request_id == request_id and self._last is None:
                yield self._note(_begun(lease))
        for span in report.spans:
            if span.request_id == request_id and span.is_prefill and self._last:
                yield self._note(_advanced(self._last, span, report.slots[span.seq_id]))

    def _note(self, progress: ProgressOutput) -> ProgressOutput:
        self._last = progress
        return progress


def _begun(lease: Lease) -> ProgressOutput:
    usage = Usage(
        num_prompt_tokens=lease.num_reused_tokens + lease.num_shared_tokens + lease.num_restored_tokens,
        num_reused_tokens=lease.num_reused_tokens,
        num_shared_tokens=lease.num_shared_tokens,
        num_restored_tokens=lease.num_restored_tokens,
    )
    num_total = usage.num_prompt_tokens + lease.num_tokens_to_compute
    return ProgressOutput(lease.request_id, lease.chat_id, usage=usage, num_total=num_total)


def _advanced(last: ProgressOutput, span: Span, slot: SlotSnapshot) -> ProgressOutput:
    """A paused prompt is computed again, so the count is capped at its length."""
    num_done = min(last.usage.num_prompt_tokens + span.num_rows, last.num_total)
    prompt_s = max(last.usage.prompt_s, slot.usage.prompt_s)
    return replace(last, usage=replace(last.usage, num_prompt_tokens=num_done, prompt_s=prompt_s))
