"""Summaries: what the model reads in the place of a chat's earlier turns. Any thread.

A summary belongs to the turn that it ends with, so every path through the chat has its own. The turns that
it stands for stay: without it they are read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from app.chats.attachment import PASSAGE, Attachment, number_of, valid_unicode
from app.protocol.output import Usage
from app.protocol.request import Message, Role
from app.system.said import from_text, said, to_text

MAX_SHARE = 4  # a summary has at most one of so many parts of the tokens that it replaces
MAX_TOKENS, MIN_TOKENS = 2_048, 64  # of one
MAX_CHARS, MAX_WORDS_CHARS = 200_000, 2_000  # of one that was imported, and of its notice
MAX_NAMES, MAX_NAME_CHARS = 50, 120  # of files that it names
MIN_REPEATED = 3  # lines in a row
ASKED = "Sum up what we have said so far."
WISH = (
    "Sum up our conversation so far. Only your summary will be left of it, and we will go on from there. "
    "Write a list with one line for each thing that can be looked up later, in the form “what it is: its "
    "value”: each person by name, each number, amount, date, place, code and file name, exactly as it was "
    "written; then what was decided, and what is still open; code that still matters, word for word. Leave "
    "out talk without such a value. Write in the language of the conversation, without introduction, at most "
    "{words} words."
)
EMPTY = said("The model wrote nothing.")
CUT_OFF = said("The summary was cut off.")
TOO_LONG = said("The summary is longer than a quarter of what it would replace.")


@dataclass(frozen=True, slots=True)
class Summary:
    """`notice` is one sentence on why it is not used."""

    text: str = ""
    notice: str = ""
    is_growing: bool = False  # it is being written
    model: str = ""  # its title
    created_at: float = 0.0  # seconds since the epoch
    num_tokens: int = 0
    num_replaced: int = 0  # tokens of the prompt that it stands for

    @property
    def is_used(self) -> bool:
        return not (self.is_growing or self.notice) and bool(self.text.strip())


def wish(max_tokens: int) -> Message:
    """What a model is asked behind the turns that it is to sum up."""
    return Message(Role.USER, WISH.format(words=max(max_tokens * 2 // 5 // 10 * 10, 20)))


def max_tokens(num_replaced: int, room: int) -> int:
    """Of a summary of so many tokens. `room` is what the context has left."""
    return max(min(num_replaced // MAX_SHARE, MAX_TOKENS, room), MIN_TOKENS)


def checked(text: str, usage: Usage, *, is_cut: bool) -> str:
    """Why a summary that was written cannot be used; empty if it can."""
    if not text.strip():
        return EMPTY
    if is_cut:
        return CUT_OFF
    return TOO_LONG if usage.num_generated_tokens * MAX_SHARE > usage.num_prompt_tokens else ""


def unrepeated(text: str) -> str:
    """Up to where it begins to repeat itself: a small model that finds no end writes the same lines again."""
    lines = text.splitlines(keepends=True)
    told: set[tuple[str, ...]] = set()
    for end in range(MIN_REPEATED, len(lines) + 1):
        run = tuple(lines[end - MIN_REPEATED : end])
        if run in told and all(map(str.strip, run)):
            return "".join(lines[: end - MIN_REPEATED])
        told.add(run)
    return text


def messages_of(summary: Summary, attachments: Iterable[Attachment]) -> tuple[Message, ...]:
    """In the place of turns with these attachments: a question and an answer, as all templates allow."""
    names = [one.name[:MAX_NAME_CHARS] for one in files_of(attachments)]
    named = f"\n\nFiles that were shown: {', '.join(names[:MAX_NAMES])}" if names else ""
    return Message(Role.USER, ASKED), Message(Role.ASSISTANT, summary.text.strip() + named)


def files_of(attachments: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """Pictures, sounds and files, each once."""
    files = (one for one in attachments if one.kind != PASSAGE)
    return tuple({(one.name, one.media, one.text): one for one in files}.values())


# As JSON


def as_json(summary: Summary | None) -> dict[str, object]:
    """Nothing while it is being written: what is half there is begun again."""
    if summary is None or summary.is_growing:
        return {}
    return asdict(summary) | {"notice": to_text(summary.notice)}


def from_json(stored: object) -> Summary | None:
    """None for what is no summary. A value that is not as it should be is left out."""
    if not isinstance(stored, dict) or not isinstance(stored.get("text"), str):
        return None
    figures = {
        name: number_of(stored.get(name), 2**40) for name in ("created_at", "num_tokens", "num_replaced")
    }
    notice, model = (str(stored.get(name) or "")[:MAX_WORDS_CHARS] for name in ("notice", "model"))
    return Summary(
        valid_unicode(stored["text"][:MAX_CHARS]),
        from_text(valid_unicode(notice)),
        model=valid_unicode(model),
        created_at=float(figures["created_at"]),
        num_tokens=int(figures["num_tokens"]),
        num_replaced=int(figures["num_replaced"]),
    )
