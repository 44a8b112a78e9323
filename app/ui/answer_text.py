"""What is said under an answer: what it cost, how far it is, why it ended early. Pure functions."""

from app.chats.chat import Turn, TurnState
from app.engine.types import PrefixEnd, SlotSnapshot, SlotState, Usage
from app.look import marks
from app.look.figures import count, percent, prefill, rate, seconds

_WHY_PREFIX_ENDED = {
    PrefixEnd.NEW_CHAT: "Nothing of this chat was in memory before.",
    PrefixEnd.NEW_TEXT: "All that was in memory could be used; the rest is new.",
    PrefixEnd.EDITED: "An earlier message is another one now, so all after it was computed again.",
    PrefixEnd.TEMPLATE: "The model's chat template writes earlier turns differently now.",
    PrefixEnd.DROPPED: "Turns were left out to fit the context, so what follows them was computed again.",
    PrefixEnd.NO_ROLLBACK: "This model cannot take back the end of what it has read.",
    PrefixEnd.EVICTED: "The memory was needed for other chats and its content not kept.",
    PrefixEnd.DOUBTED: "What had been saved did not pass a check, so it was computed again.",
}
_MARK_OF = {TurnState.STOPPED: marks.STOPPED, TurnState.FAILED: marks.FAILED}


def stats_line(turn: Turn) -> str:
    """Model · speed · time · reused; parts that are not known are left out."""
    return " · ".join(part for part in (turn.model, *_usage_parts(turn.usage)) if part)


def _usage_parts(usage: Usage) -> tuple[str, ...]:
    if not usage.num_generated_tokens:
        return ()
    spent = usage.time_to_first_token_s + usage.decode_s
    reused = usage.num_reused_tokens + usage.num_shared_tokens + usage.num_restored_tokens
    return (
        rate(usage.tokens_per_s) if usage.tokens_per_s else "",
        seconds(spent) if spent else "",
        f"reused {percent(reused, usage.num_prompt_tokens)}" if usage.num_prompt_tokens else "",
    )


def usage_rows(usage: Usage) -> tuple[tuple[str, str, str], ...]:
    """What became of the prompt: a name, a number of tokens, and what it means."""
    if not usage.num_prompt_tokens:
        return ()
    cached = usage.num_reused_tokens + usage.num_shared_tokens + usage.num_restored_tokens
    computed = max(0, usage.num_prompt_tokens - cached)
    again = usage.num_computed_tokens - computed - usage.num_generated_tokens
    rows = (
        ("Prompt", count(usage.num_prompt_tokens), "tokens"),
        ("reused", count(usage.num_reused_tokens), "from this chat's slot"),
        ("shared", count(usage.num_shared_tokens), "with other chats"),
        ("restored", count(usage.num_restored_tokens), "from its saved state"),
        ("computed", count(computed), "now"),
        ("Answer", count(usage.num_generated_tokens), "tokens"),
    )
    return (*rows, ("Again", count(again), "computed a second time, after a pause")) if again > 0 else rows


def usage_times(usage: Usage) -> str:
    first = usage.time_to_first_token_s
    if not first:
        return ""
    waited = f", {seconds(usage.queue_s)} of it waiting" if usage.queue_s >= 0.05 else ""
    return f"First token after {seconds(first)}{waited}."


def prefix_end_text(prefix_end: str) -> str:
    """Why not more of the prompt was there already. A later version's reason is shown as it is."""
    try:
        return _WHY_PREFIX_ENDED[PrefixEnd(prefix_end)]
    except ValueError:
        return prefix_end


def activity_line(slot: SlotSnapshot | None, is_paused: bool = False) -> str:
    """What is being done for an answer that is not finished."""
    if is_paused:
        return "paused, as all chats are"
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
