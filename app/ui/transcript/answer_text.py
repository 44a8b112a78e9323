"""Texts under an answer: usage, progress, why it ended early. Pure functions."""

from collections.abc import Sequence

from app.chats.chat import Turn, TurnState
from app.chats.tool_use import ToolState
from app.inspector.prefix_view import head_of
from app.look import marks
from app.look.figures import count, milliseconds, percent, percents, prefilled, rate, seconds
from app.look.words import mark, tr, tr_said
from app.protocol.media import Encoding
from app.protocol.output import PrefixEnd, Usage
from app.protocol.report import SlotSnapshot, SlotState

MAX_ROUND_ROWS = 20
_ENDS = {
    TurnState.DONE: mark("It ended with an end-of-generation token or a stop string."),
    TurnState.STOPPED: mark("It was stopped."),
    TurnState.FAILED: mark("It failed."),
}
_MARK_OF = {TurnState.STOPPED: marks.STOPPED, TurnState.FAILED: marks.FAILED}


def stats_line(turn: Turn) -> str:
    """Model · speed · first token · reused; what is unknown or nothing is left out."""
    return " · ".join(part for part in (turn.model, *_usage_parts(turn.usage)) if part)


def _usage_parts(usage: Usage) -> tuple[str, ...]:
    if not usage.num_generated_tokens:
        return ()
    first = usage.time_to_first_token_s
    ahead, prompt = usage.num_ahead_tokens, usage.num_prompt_tokens
    reused = usage.num_cached_tokens - ahead
    shares = percents(reused, ahead, prompt - reused - ahead)
    return (
        rate(usage.tokens_per_s) if usage.tokens_per_s else "",
        tr("first token {time}", time=_short(first)) if first else "",
        tr("reused {share}", share=shares[0]) if reused else "",
        tr("read ahead {share}", share=shares[1]) if ahead else "",
    )


def _short(duration_s: float) -> str:
    return seconds(duration_s) if duration_s >= 0.1 else milliseconds(duration_s * 1000)


def has_details(usage: Usage) -> bool:
    """Something was computed for the answer."""
    return usage.num_prompt_tokens > 0


def usage_rows(usage: Usage) -> tuple[tuple[str, str, str], ...]:
    """Rows about prompt and answer: a name, a number of tokens, and an explanation."""
    if not has_details(usage):
        return ()
    computed, ahead = usage.num_computed_prompt_tokens, usage.num_ahead_tokens
    reused, restored = usage.num_reused_tokens, usage.num_restored_tokens
    wrong = usage.num_drafted_tokens - usage.num_kept_tokens
    again = usage.num_computed_tokens - computed - usage.num_generated_tokens - wrong
    rows = [
        (tr("Prompt"), count(usage.num_prompt_tokens), tr("tokens")),
        (tr("reused"), count(reused and reused - ahead), tr("cached by this chat")),
        (tr("shared"), count(usage.num_shared_tokens), tr("with other chats")),
        (tr("restored"), count(restored and restored - ahead), tr("from a saved state")),
        (tr("computed"), count(computed), tr("for this answer")),
        (tr("Answer"), count(usage.num_generated_tokens), tr("tokens")),
    ]
    if missing := usage.num_missing_tokens - computed:
        rows.insert(5, (tr("not computed"), count(missing), tr("stopped before")))
    if ahead:
        rows.insert(4, (tr("read ahead"), count(ahead), tr("before it was sent")))
    if usage.num_drafted_tokens:
        guessed = tr("of {number} draft tokens", number=count(usage.num_drafted_tokens))
        rows.append((tr("accepted"), count(usage.num_kept_tokens), guessed))
    if usage.num_model_drafted_tokens:
        written = tr("of {number} draft tokens", number=count(usage.num_model_drafted_tokens))
        rows.append((tr("draft model"), count(usage.num_model_kept_tokens), written))
    if again > 0:
        rows.append((tr("Again"), count(again), tr("recomputed after a pause, or with a shorter prompt")))
    return tuple(rows)


def round_rows(turn: Turn) -> tuple[tuple[str, str, str], ...]:
    """For each round of calls: the tokens of its prompt that were computed, and how long its tools took."""
    rows = []
    for number, each in enumerate(turn.rounds[:MAX_ROUND_ROWS], 1):
        computed = each.usage.num_computed_prompt_tokens
        took = max((use.seconds for use in each.uses), default=0.0)
        told = tr("computed; tools took {time}", time=_short(took)) if took else tr("computed")
        rows.append((tr("Round {number}", number=number), count(computed), told))
    return tuple(rows)


def usage_times(usage: Usage) -> str:
    first = usage.time_to_first_token_s
    if not first:
        return ""
    if usage.queue_s < 0.05:
        told = tr("First token after {time}.", time=_short(first))
    else:
        told = tr(
            "First token after {time}, including {waited} of waiting.",
            time=_short(first),
            waited=_short(usage.queue_s),
        )
    return f"{told} {tr('Total time without pauses {time}.', time=_short(first + usage.decode_s))}"


def finish_text(turn: Turn) -> str:
    """How the answer ended. The notice explains a cut."""
    if turn.state is TurnState.DONE and turn.notice:
        return tr_said(turn.notice)
    return tr(_ENDS[turn.state]) if turn.state in _ENDS else ""


def answer_ended_text(turn: Turn) -> str:
    """The announcement for screen readers when an answer has ended."""
    if turn.state is TurnState.DONE:
        return tr("This answer has already finished.")
    return notice_line(turn)


def computing_line(usage: Usage) -> str:
    """Where nothing else is known of its slot."""
    speed = rate(usage.tokens_per_s) if usage.tokens_per_s else ""
    return " · ".join(filter(None, (marks.COMPUTING.text, speed)))


def tools_line(turn: Turn) -> str:
    """What its calls wait for, if they do."""
    states = {use.state for use in turn.rounds[-1].uses} if turn.rounds else set()
    if ToolState.ASKING in states:
        return tr("waiting for your decision")
    if ToolState.RUNNING in states:
        return f"{marks.COMPUTING.glyph} {tr('running tools')}"
    return ""


def can_continue(turn: Turn) -> bool:
    return bool(turn.text or turn.rounds) and turn.state is not TurnState.STREAMING


def ended_early(turn: Turn) -> bool:
    return turn.state in (TurnState.STOPPED, TurnState.FAILED)


def prefix_end_text(usage: Usage) -> str:
    """Why the prefix was not longer. An unknown reason of a later version is shown as it is."""
    try:
        prefix_end = PrefixEnd(usage.prefix_end)
    except ValueError:
        return usage.prefix_end
    num_ahead, num_cached = usage.num_ahead_tokens, usage.num_cached_tokens
    head = head_of(prefix_end, is_ahead=False, num_ahead=num_ahead, num_cached=num_cached)
    return tr("{text}.", text=head)


def activity_line(
    slot: SlotSnapshot | None,
    is_paused: bool = False,
    encoding: Encoding | None = None,
    starting: Sequence[str] = (),
) -> str:
    """What is happening to an unfinished answer."""
    if is_paused:
        return tr("all chats are paused")
    glyph = marks.COMPUTING.glyph
    if starting:
        return f"{glyph} {tr('waiting for MCP server {servers} to start', servers=', '.join(starting))}"
    if encoding:
        return f"{glyph} {encoding_text(encoding)}"
    if slot is None or not slot.is_running:
        return f"{glyph} {tr('waiting')}"
    if slot.state is SlotState.PREFILL:
        return f"{glyph} {tr('reading the prompt {percent}', percent=prefilled(slot))}"
    speed = slot.usage.tokens_per_s
    return f"{glyph} {rate(speed) if speed else tr('computing')}"


def encoding_text(encoding: Encoding) -> str:
    """How much of what the model looks at or listens to is encoded, and since when it is the current one."""
    parts = [tr("encoding pictures and sound")]
    if encoding.num_done:
        parts.append(percent(encoding.num_done, encoding.num_total))
    if encoding.elapsed_s >= 1:
        parts.append(seconds(encoding.elapsed_s))
    return " · ".join(parts)


def notice_line(turn: Turn) -> str:
    """Why an answer ended early or failed; empty if it did not."""
    mark = _MARK_OF.get(turn.state)
    if mark is None:
        return tr_said(turn.notice)
    head = f"{mark.glyph} {mark.word.capitalize()}"
    if not turn.notice:
        return head
    if turn.state is TurnState.STOPPED:  # stopped by the user; the notice is about something else
        return tr("{state}. {notice}", state=head, notice=tr_said(turn.notice))
    return tr("{state}: {notice}", state=head, notice=tr_said(turn.notice))
