"""What is said under an answer: what it cost, how far it is, why it ended early. Pure functions."""

from app.chats.chat import Turn, TurnState
from app.engine.types import SlotSnapshot, SlotState, Usage
from app.look import marks
from app.look.figures import percent, prefill, rate, seconds

_MARK_OF = {TurnState.STOPPED: marks.STOPPED, TurnState.FAILED: marks.FAILED}


def stats_line(turn: Turn) -> str:
    """Model · speed · time · reused; parts that are not known are left out."""
    return " · ".join(part for part in (turn.model, *_usage_parts(turn.usage)) if part)


def _usage_parts(usage: Usage) -> tuple[str, ...]:
    if not usage.num_generated_tokens:
        return ()
    spent = usage.time_to_first_token_s + usage.decode_s
    reused = usage.num_reused_tokens + usage.num_shared_tokens
    return (
        rate(usage.tokens_per_s) if usage.tokens_per_s else "",
        seconds(spent) if spent else "",
        f"reused {percent(reused, usage.num_prompt_tokens)}" if usage.num_prompt_tokens else "",
    )


def activity_line(slot: SlotSnapshot | None) -> str:
    """What is being done for an answer that is not finished."""
    glyph = marks.COMPUTING.glyph
    if slot is None or not slot.is_running:
        return f"{glyph} waiting"
    if slot.state is SlotState.PREFILL:
        return f"{glyph} {prefill(slot)}"
    return f"{glyph} {rate(slot.usage.tokens_per_s)}" if slot.usage.tokens_per_s else f"{glyph} computing"


def notice_line(turn: Turn) -> str:
    """Why an answer is not what it could have been; empty if there is nothing to say."""
    mark = _MARK_OF.get(turn.state)
    if mark is None:
        return turn.notice
    head = f"{mark.glyph} {mark.word.capitalize()}"
    return f"{head}: {turn.notice}" if turn.notice else head


def context_text(num_used: int, n_ctx: int) -> str:
    return f"{num_used:,} / {n_ctx:,}" if n_ctx else ""


def num_context_tokens(slot: SlotSnapshot | None, last: Usage) -> int:
    """Tokens of the chat in the context: those its slot holds, else those of its last answer."""
    if slot is not None and slot.pos_max >= 0:
        return slot.pos_max + 1
    return last.num_prompt_tokens + last.num_generated_tokens
