"""How long a chat may get, and what is left out of one that got longer.

Works on messages, their sizes and a measure of them: knows neither tokens nor templates. Any thread.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import accumulate, chain, count, takewhile
from operator import neg
from typing import TYPE_CHECKING

from app.protocol.errors import PromptTooLongError
from app.protocol.request import Overflow, Role
from app.system.said import said, together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.protocol.model import ModelInfo
    from app.protocol.request import Message, Request

    Messages = tuple[Message, ...]
    Measure = Callable[[Messages], int]  # number of tokens of the prompt with these messages
    CountTokens = Callable[[str], int]

KEPT_SHARE = 3 / 4  # of what could be shown, at least, when turns are dropped
ROLE_CHARS = 16  # what a template writes around a message, in characters
USUAL_CHARS_PER_TOKEN = 4.0
NUM_SAMPLES, SAMPLE_CHARS = 8, 500  # enough to tell how many tokens a long text has
CUT_LINE_CHARS = 40  # the line in place of the text that was cut out
# Lengths to which texts are cut: few, so that a cut stays where it is while the chat grows.
CUT_LENGTHS = tuple(round(64 * 2 ** (step / 4)) for step in range(80, -1, -1))


def context_limit(request: Request, model: ModelInfo) -> int:
    """Most tokens of prompt and answer together: the chat's own limit, or the model's."""
    return min(request.max_context_tokens or model.max_sequence_tokens, model.max_sequence_tokens)


def longer_chats_need(request: Request, model: ModelInfo) -> str:
    """What the user can do about a chat that does not fit, in one or two sentences."""
    own_limit = context_limit(request, model) < model.max_sequence_tokens
    need = said("Start a new chat, or raise this chat's own limit.") if own_limit else model.longer_chats_need
    if request.overflow is Overflow.STOP:
        return together(said("In the chat settings, choose what to leave out when the chat is full."), need)
    return need


def too_long(
    num_tokens: int, request: Request, model: ModelInfo, *, is_estimate: bool = False
) -> PromptTooLongError:
    """The error if the part that must be shown takes `num_tokens`, with what can be done about that.

    A rolling window is no way out: it shows the newest message whole.
    """
    limit = context_limit(request, model)
    can_grow = num_tokens < (model.max_positions or num_tokens + 1)
    can_cut = request.overflow is not Overflow.TRUNCATE_MIDDLE
    needed = said("about {tokens:,}", tokens=_rounded(num_tokens)) if is_estimate else f"{num_tokens:,}"
    counts = {"tokens": needed, "limit": limit}
    if limit < model.max_sequence_tokens:
        reason = said(
            "This chat needs {tokens} tokens, but its own limit is {limit:,}: raise that in the chat "
            "settings, or shorten the text.",
            **counts,
        )
    elif can_grow and can_cut:
        reason = said(
            "This chat needs {tokens} tokens, but the context holds {limit:,}: choose a larger one in "
            "Settings (--ctx), leave out the middle, or shorten the text.",
            **counts,
        )
    elif can_grow:
        reason = said(
            "This chat needs {tokens} tokens, but the context holds {limit:,}: choose a larger one in "
            "Settings (--ctx), or shorten the text.",
            **counts,
        )
    elif can_cut:
        reason = said(
            "This chat needs {tokens} tokens, but this model can hold {limit:,}: leave out the middle, "
            "shorten the text, or use another model.",
            **counts,
        )
    else:
        reason = said(
            "This chat needs {tokens} tokens, but this model can hold {limit:,}: shorten the text, or "
            "use another model.",
            **counts,
        )
    return PromptTooLongError(reason, num_tokens)


def estimated_tokens(messages: Messages, count_tokens: CountTokens) -> int:
    """How many tokens a chat has that is too long to count them all."""
    texts = (one.fields + (one.written or one.content) for one in messages)
    num_of_roles = len(messages) * ROLE_CHARS / USUAL_CHARS_PER_TOKEN
    return about_tokens("".join(texts), count_tokens) + round(num_of_roles)


def about_tokens(text: str, count_tokens: CountTokens) -> int:
    """By samples from all over a long text."""
    distance = max(len(text) // NUM_SAMPLES, SAMPLE_CHARS)
    samples = [text[at : at + SAMPLE_CHARS] for at in range(0, len(text), distance)]
    num_sampled = sum(map(len, samples))
    return sum(map(count_tokens, samples)) * len(text) // num_sampled if samples else 0


def rolling_window(messages: Messages, measure: Measure, max_tokens: int) -> Messages:
    """The system prompt and as many of the newest turns as fit into `max_tokens`.

    The newest turn is always there: where it does not fit, the result is too long, but no shorter one exists.
    """
    system, turns = _split(messages)
    return _newest_turns(system, turns, measure, max_tokens) or system + turns[-1]


def truncate_middle(
    messages: Messages, measure: Measure, count_tokens: CountTokens, max_tokens: int, max_opening_tokens: int
) -> Messages:
    """As `rolling_window`, but the first turn stays, too.

    If the first and the newest turn alone are too long, the middle of their longest texts is cut out: first
    down to `max_opening_tokens` in the first turn, so that a chat about a long text still remembers its
    newest turns, then wherever it must be. Never in the system prompt.
    """
    system, turns = _split(messages)
    opening, turns = (turns[0], turns[1:]) if len(turns) > 1 else ((), turns)
    shown = _newest_turns(system + opening, turns, measure, max_tokens)
    if shown is None:
        opening = _shortened(opening, max_opening_tokens, count_tokens)
        shown = _newest_turns(system + opening, turns, measure, max_tokens)
    return shown or _cut_to_fit(system, opening + turns[-1], measure, count_tokens, max_tokens)


def left_out(messages: Messages, shown: Messages, overflow: Overflow) -> str:
    """One sentence for the user about what of `messages` was not shown; empty if all was."""
    num_dropped, num_cut = len(messages) - len(shown), len(set(shown) - set(messages))
    dropped = _dropped_words(num_dropped, overflow)
    if num_dropped and num_cut:
        cut = said("the middle of {n} long texts", n=num_cut)
        return said(
            "{dropped} and {cut} no longer fit the context and were left out.",
            dropped=dropped,
            cut=cut if num_cut > 1 else said("the middle of a long text"),
        )
    if num_dropped > 1:
        return said("{dropped} no longer fit the context and were left out.", dropped=dropped)
    if num_dropped:
        return said("{dropped} no longer fits the context and was left out.", dropped=dropped)
    if num_cut > 1:
        return said("The middle of {n} long texts no longer fits the context and was left out.", n=num_cut)
    return said("The middle of a long text no longer fits the context and was left out.") if num_cut else ""


def _dropped_words(number: int, overflow: Overflow) -> str:
    if overflow is Overflow.ROLLING_WINDOW:
        return said("The oldest {n:,} messages", n=number) if number > 1 else said("The oldest message")
    if number > 1:
        return said("{n:,} messages in the middle of this chat", n=number)
    return said("One message in the middle of this chat")


def _split(messages: Messages) -> tuple[Messages, list[Messages]]:
    """The system prompt, and at least one turn: a question and all up to the next one."""
    system = tuple(takewhile(lambda message: message.role is Role.SYSTEM, messages))
    turns: list[list[Message]] = [[]]
    for message in messages[len(system) :]:
        if message.role is Role.USER and any(one.role is Role.USER for one in turns[-1]):
            turns.append([])
        turns[-1].append(message)
    return system, [tuple(turn) for turn in turns]


# Raw prompts.


def cut_tokens(token_ids: list[int], num_leading: int, overflow: Overflow, max_tokens: int) -> list[int]:
    """Cuts a raw prompt to `max_tokens`, always keeping the first `num_leading`.

    Leading tokens are those that the model adds itself. Nothing is cut if the overflow choice is to stop.
    """
    if overflow is Overflow.STOP or len(token_ids) <= max_tokens:
        return token_ids
    num_begin = max_tokens // 2 if overflow is Overflow.TRUNCATE_MIDDLE else 0
    num_begin = max(num_begin, num_leading)
    num_end = max(max_tokens - num_begin, 1)
    return token_ids[:num_begin] + token_ids[-num_end:]


def tokens_left_out(num_tokens: int, overflow: Overflow) -> str:
    """One sentence for the user about so many tokens of a raw prompt; empty if none were left out."""
    if not num_tokens:
        return ""
    if overflow is Overflow.ROLLING_WINDOW:
        return said(
            "The oldest {tokens:,} tokens of the prompt no longer fit the context and were left out.",
            tokens=num_tokens,
        )
    return said(
        "The prompt no longer fits the context: {tokens:,} tokens in its middle were left out.",
        tokens=num_tokens,
    )


# Dropping turns.


def _newest_turns(
    head: Messages, turns: list[Messages], measure: Measure, max_tokens: int
) -> Messages | None:
    """`head` and the newest of `turns`, all of them if they fit. None if not even the last one does."""

    def version(start: int) -> Messages:
        return head + tuple(chain.from_iterable(turns[start:]))

    begins = list(accumulate((_size(turn) for turn in turns), initial=0))
    sizes = [_size(head) + begins[-1] - begin for begin in begins[:-1]]
    first = _first_that_fits(sizes, lambda start: measure(version(start)), max_tokens)
    if first is None:
        return None
    start = _lasting_start(begins, first) if first else 0
    return version(start if measure(version(start)) <= max_tokens else first)


def _lasting_start(begins: list[int], first: int) -> int:
    """The turn to start with: `first` or a later one, so that most of what fits is still shown.

    If it were always `first`, every new turn would drop another one, and as all that follows it moves, the
    whole window would be computed again each time. So it is the turn at the roundest place, the one before
    which the highest bit changes in the count of characters since the beginning of the chat. Later turns do
    not change that, and it remains the roundest for many turns. No state between requests is needed.
    """
    num_chars_that_fit = begins[-1] - begins[first]
    last = bisect_right(begins, begins[-1] - KEPT_SHARE * num_chars_that_fit) - 1
    return max(range(first, last + 1), key=lambda turn: (begins[turn - 1] ^ begins[turn]).bit_length())


def _first_that_fits(sizes: Sequence[int], measure: Callable[[int], int], max_tokens: int) -> int | None:
    """Index of the first version of at most `max_tokens`. `sizes` are characters and fall.

    Measuring is expensive, so it starts from an estimate by characters and corrects that: a history of 10 MB
    is never measured as a whole, and three or four versions are enough as a rule.
    """
    low, high = 0, len(sizes)  # too long below `low`; fits from `high` on
    chars_per_token = USUAL_CHARS_PER_TOKEN
    for num_measured in count():
        if low == high:
            break
        index = bisect_left(sizes, -max_tokens * chars_per_token, key=neg)
        if num_measured > 8:  # a text whose length says little about its tokens
            index = (low + high) // 2
        index = min(max(index, low), high - 1)
        num_tokens = measure(index)
        chars_per_token = sizes[index] / max(num_tokens, 1)
        if num_tokens <= max_tokens:
            high = index
        else:
            low = index + 1
    return high if high < len(sizes) else None


def _size(messages: Messages) -> int:
    return sum(len(message.content) + len(message.fields) + ROLE_CHARS for message in messages)


# Cutting texts.


def _shortened(messages: Messages, max_tokens: int, count_tokens: CountTokens) -> Messages:
    """The longest of `messages` cut down, all to one length, to about `max_tokens` together."""
    num_tokens = sum(about_tokens(message.content, count_tokens) for message in messages)
    max_chars = sum(len(message.content) for message in messages) * max_tokens / max(num_tokens, 1)

    def num_chars(length: int) -> int:
        return sum(min(len(message.content), length) for message in messages)

    fitting = (length for length in CUT_LENGTHS if num_chars(length) <= max_chars)
    return _cut(messages, next(fitting, CUT_LENGTHS[-1]), count_tokens)


def _cut_to_fit(
    system: Messages, messages: Messages, measure: Measure, count_tokens: CountTokens, max_tokens: int
) -> Messages:
    """`messages` cut to the greatest length that fits behind `system`, or to the smallest one."""

    def version(index: int) -> Messages:
        return system + _cut(messages, CUT_LENGTHS[index], count_tokens)

    sizes = [
        _size(system) + sum(min(len(message.content), length) + ROLE_CHARS for message in messages)
        for length in CUT_LENGTHS
    ]
    index = _first_that_fits(sizes, lambda index: measure(version(index)), max_tokens)
    return version(len(sizes) - 1 if index is None else index)


def _cut(messages: Messages, length: int, count_tokens: CountTokens) -> Messages:
    cut = (_cut_text(message.content, length, count_tokens) for message in messages)
    return tuple(map(_with_content, messages, cut))


def _with_content(message: Message, content: str) -> Message:
    if content == message.content:
        return message
    media = tuple(replace(one, at=min(one.at, len(content))) for one in message.media)
    return replace(message, content=content, written="", media=media)


def _cut_text(text: str, length: int, count_tokens: CountTokens) -> str:
    """Beginning and end of `text`, together about `length` characters, and a line that says what is gone."""
    if len(text) <= length + CUT_LINE_CHARS:
        return text
    begin = _whole_words(text[: length // 2])
    end = _whole_words(text[len(text) - length // 2 :][::-1])[::-1]
    num_tokens = about_tokens(text[len(begin) : len(text) - len(end)], count_tokens)
    return f"{begin}\n[… about {num_tokens:,} tokens left out …]\n{end}"


def _whole_words(text: str) -> str:
    """`text` without a last line that is not whole, or a last word, unless a quarter of it would be lost."""
    for border in ("\n", " "):
        at = text.rfind(border, len(text) * 3 // 4)
        if at >= 0:
            return text[:at]
    return text


def _rounded(number: int) -> int:
    """Up, to three digits."""
    step: int = 10 ** max(len(str(number)) - 3, 0)
    return -(-number // step) * step
