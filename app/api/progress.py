"""Prefill progress for requests that asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from app.protocol.output import Output, Usage
from app.protocol.report import Lease, SlotSnapshot, Span, StepReport


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
    """Follows one request."""

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
