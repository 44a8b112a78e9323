"""Answers in a prompt as their model wrote them, so that their cells are used again.

A template writes a call of a tool anew from its name and arguments, with other blanks and in another order
than its model did, and leaves out what was thought: all behind that would be computed again. Any thread.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from app.protocol.json_object import read_object
from app.protocol.request import Message

MAX_WRITTEN = 64  # answers of a prompt: after a restart each costs a rendering
MAX_KEPT_PROMPTS = 16
MAX_KEPT_TOKENS = 1_000_000
END_CHARS = 16


@dataclass(frozen=True, slots=True)
class Spliced:
    """A prompt as the template writes it, and with marks in the place of answers.

    `counting`: by mark, the control tokens that count in its answer, which the template writes in such.
    """

    plain: str
    text: str
    counting: Mapping[int, frozenset[str]] = field(default_factory=dict)


def indices_of(messages: Sequence[Message]) -> list[int]:
    """Of those to be shown as they were written: the last of them, by the same border for many prompts.

    Not of one that nothing follows: that is the beginning of the answer.
    """
    written = [index for index, message in enumerate(messages[:-1]) if message.written]
    return written[(len(written) - 1) // MAX_WRITTEN * MAX_WRITTEN :] if written else []


def spliced(
    before: Spliced,
    message: Message,
    mark: tuple[int, str],
    plain: str,
    to_next: str,
    ends: Collection[str],
    controls_in: Callable[[str], Collection[str]],
) -> Spliced:
    """`plain` is a prompt in which `message` follows what it answered, `before`, and `to_next` its beginning
    up to the content of the message behind that.

    The answer stands where what it answered ended, and then what the template writes from the token that ends
    the answer. Without marks where the template has changed what stands before, or writes it in no clear way.
    """
    common = _common_length(before.plain, plain)
    at = min((found for end in ends if (found := to_next.find(end, common)) >= 0), default=-1)
    is_rewritten = any(end in before.plain[common:] for end in ends)
    if is_rewritten or at < 0 or not plain.startswith(to_next):
        return Spliced(plain, plain)
    written, behind = to_next[common:at], to_next[at:]
    if not _is_all_of(message, written, behind):
        return Spliced(plain, plain)
    number, text = mark
    counting = frozenset(controls_in(written)) - frozenset(ends)
    return Spliced(plain, before.text + text + plain[at:], {**before.counting, number: counting})


def _common_length(one: str, other: str) -> int:
    if other.startswith(one):
        return len(one)
    limit = min(len(one), len(other))
    return bisect_left(range(1, limit + 1), True, key=lambda length: one[:length] != other[:length])


def _is_all_of(message: Message, written: str, behind: str) -> bool:
    """Nothing of it comes behind the first token that ends a turn."""
    calls = read_object(message.fields, "The fields of a message").get("tool_calls", ())
    parts = Counter(call["function"]["name"] for call in calls)
    parts[message.content[-END_CHARS:].strip()] += 1
    return all(written.count(part) >= number or part not in behind for part, number in parts.items())


class KeptPrompts:
    """Of prompts with such answers, by messages, variables and tools: each is the beginning of the next."""

    def __init__(self) -> None:
        self._prompts: OrderedDict[object, Spliced] = OrderedDict()

    def get(self, key: object) -> Spliced | None:
        found = self._prompts.get(key)
        if found:
            self._prompts.move_to_end(key)
        return found

    def put(self, key: object, prompt: Spliced) -> None:
        self._prompts[key] = prompt
        if len(self._prompts) > MAX_KEPT_PROMPTS:
            self._prompts.popitem(last=False)


class WrittenTokens:
    """The tokens of answers that this model wrote: a text may be made of others than the tokenizer's.

    Noted on the engine's thread and asked for on that of prompts.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: OrderedDict[str, array[int]] = OrderedDict()
        self._num_tokens = 0

    def note(self, text: str, token_ids: Sequence[int]) -> None:
        with self._lock:
            self._num_tokens -= len(self._tokens.pop(text, ()))
            self._tokens[text] = array("i", token_ids)
            self._num_tokens += len(token_ids)
            while self._num_tokens > MAX_KEPT_TOKENS:
                _text, oldest = self._tokens.popitem(last=False)
                self._num_tokens -= len(oldest)

    def get(self, text: str) -> list[int] | None:
        with self._lock:
            tokens = self._tokens.get(text)
            if tokens is None:
                return None
            self._tokens.move_to_end(text)
            return tokens.tolist()


def split_at(controls: Collection[str], text: str) -> list[str]:
    """`text` in pieces; those with odd numbers are `controls`."""
    longest_first = sorted(map(re.escape, controls), key=len, reverse=True)
    return re.split(f"({'|'.join(longest_first)})", text) if controls else [text]


NoteWritten = Callable[[str, Sequence[int]], None]
