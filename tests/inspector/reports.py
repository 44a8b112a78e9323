"""Step reports as the engine would make them."""

from app.protocol.events import Event
from app.protocol.output import Usage
from app.protocol.report import (
    CellUsage,
    HibernatedChat,
    SlotSnapshot,
    SlotState,
    Span,
    StepReport,
    WaitingRequest,
    WaitReason,
)

EMPTY = tuple(SlotSnapshot(seq_id, SlotState.EMPTY) for seq_id in range(4))


def decoding(seq_id: int, chat_id: str, num_cells: int = 412) -> SlotSnapshot:
    usage = Usage(
        num_prompt_tokens=96,
        num_reused_tokens=80,
        num_shared_tokens=12,
        num_restored_tokens=7,
        num_computed_tokens=4,
        num_generated_tokens=42,
        time_to_first_token_s=0.1,
        decode_s=1.0,
    )
    return SlotSnapshot(
        seq_id, SlotState.DECODE, chat_id, f"of {chat_id}", 0, num_cells - 1, num_cells, 196, 0, usage
    )


def span(seq_id: int, num_rows: int = 1) -> Span:
    return Span(seq_id, f"chat {seq_id}", f"of chat {seq_id}", 0, num_rows, True, 1, None)


def report(
    step: int,
    *slots: SlotSnapshot,
    decode_ms: float = 38.0,
    events: tuple[Event, ...] = (),
    hibernated: tuple[HibernatedChat, ...] = (),
) -> StepReport:
    used = {slot.seq_id: slot for slot in slots}
    return StepReport(
        step=step,
        outputs=(),
        spans=tuple(span(slot.seq_id) for slot in slots if slot.state is SlotState.DECODE),
        slots=tuple(used.get(slot.seq_id, slot) for slot in EMPTY),
        cells=CellUsage(4096, sum(slot.num_cells for slot in slots), 196 if slots else 0),
        waiting=(WaitingRequest("waiting", "chat", WaitReason.QUEUED, 20, 0, 0.5),),
        schedule_ms=0.08,
        decode_ms=decode_ms,
        update_ms=0.4,
        events=events,
        hibernated=hibernated,
    )
