"""Steps of a busy engine as it would report them, one after another: prompts, answers, times, tokens."""

from __future__ import annotations

import struct
from dataclasses import replace

from app.protocol.output import Output, Usage
from app.protocol.report import (
    CellUsage,
    SlotSnapshot,
    SlotState,
    Span,
    StepReport,
    WaitingRequest,
    WaitReason,
)

N_CTX = 8192
STEP_S = 0.02  # from the beginning of one step to that of the next


def span(seq_id: int, first_pos: int = 0, num_rows: int = 1, *, is_prefill: bool = False) -> Span:
    token_ids = [100 + (first_pos + place) % 50 for place in range(num_rows)]
    return Span(
        seq_id=seq_id,
        chat_id=f"chat {seq_id}",
        request_id=f"request {seq_id}",
        first_pos=first_pos,
        num_rows=num_rows,
        wants_logits=True,
        num_generated_tokens=0 if is_prefill else first_pos,
        max_tokens=None,
        is_prefill=is_prefill,
        token_bytes=struct.pack(f"{num_rows}i", *token_ids),
    )


def slot(seq_id: int, num_cells: int, state: SlotState = SlotState.DECODE) -> SlotSnapshot:
    usage = Usage(num_prompt_tokens=90, num_computed_tokens=num_cells, decode_s=num_cells * STEP_S)
    return SlotSnapshot(
        seq_id, state, f"chat {seq_id}", f"request {seq_id}", 0, num_cells - 1, num_cells, 20, 1, usage
    )


def step(number: int, *spans: Span, **changes: object) -> StepReport:
    """Its spans were computed in 10 ms. Steps follow one another without a gap."""
    slots = tuple(
        slot(
            one.seq_id,
            one.first_pos + one.num_rows,
            SlotState.PREFILL if one.is_prefill else SlotState.DECODE,
        )
        for one in spans
    )
    report = StepReport(
        step=number,
        outputs=tuple(
            Output(
                one.request_id,
                one.chat_id,
                f" word{number}",
                usage=held.usage,
                token_ids=(100 + number % 50,),
            )
            for one, held in zip(spans, slots, strict=True)
            if not one.is_prefill
        ),
        spans=spans,
        slots=slots,
        cells=CellUsage(N_CTX, sum(held.num_cells for held in slots), 20),
        schedule_ms=0.1,
        decode_ms=10.0,
        update_ms=0.5,
        started_at=1000.0 + number * STEP_S,
        sample_ms=0.2,
    )
    return replace(report, **changes)  # type: ignore[arg-type]


def busy_step(number: int, num_seqs: int = 8) -> StepReport:
    """All sequences decode; every 50th step has a prompt in it, too, which takes longer."""
    spans = [span(seq_id, 100 + number) for seq_id in range(num_seqs)]
    if number % 50:
        return step(number, *spans, decode_ms=10.0 + number % 7)
    prompt = span(num_seqs - 1, 0, 64, is_prefill=True)
    return step(number, *spans[:-1], prompt, decode_ms=45.0, waiting=(waiting(),))


def idle_step(number: int) -> StepReport:
    """News without a computation."""
    return step(number, schedule_ms=0.0, decode_ms=0.0, update_ms=0.0, sample_ms=0.0)


def waiting(reason: WaitReason = WaitReason.QUEUED) -> WaitingRequest:
    return WaitingRequest("request w", "chat w", reason, 200, 0, 0.5)
