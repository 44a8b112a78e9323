"""Summaries: what the model reads in the place of a chat's earlier turns. Any thread.

A summary belongs to the turn that it ends with, so every path through the chat has its own. The turns that
it stands for stay: without it they are read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from app.chats.attachment import IS_FOUND, Attachment, number_of, valid_unicode
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
    "Keep what was decided; names, numbers, dates, places, codes and file names exactly as they were; "
    "code that still matters, word for word; and what is still open. Write in the language of the "
    "conversation, as a list of short facts without introduction, at most {words} words."
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
    former: Summary | None = None  # that is used while this one is being written

    @property
    def kept(self) -> Summary | None:
        """What is there until it is written."""
        return self.former if self.is_growing else self

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
    files = (one for one in attachments if one.kind not in IS_FOUND)
    return tuple({(one.name, one.media, one.text): one for one in files}.values())


# As JSON


def as_json(summary: Summary | None) -> dict[str, object]:
    """Nothing of one that is being written: what is half there is begun again."""
    kept = summary.kept if summary else None
    if kept is None:
        return {}
    fields = asdict(kept) | {"notice": to_text(kept.notice)}
    return {name: value for name, value in fields.items() if name not in ("is_growing", "former")}


def from_json(stored: object) -> Summary | None:
    """None for what is no summary. A value that is not as it should be is left out."""
    if not isinstance(stored, dict) or not isinstance(stored.get("text"), str):
        return None
    figures = {
        name: number_of(stored.get(name), 2**40) for name in ("created_at", "num_tokens", "num_replaced")
    }
    words = (value if isinstance(value := stored.get(name), str) else "" for name in ("notice", "model"))
    notice, model = map(valid_unicode, words)
    notice = from_text(notice)
    return Summary(
        valid_unicode(stored["text"][:MAX_CHARS]),
        notice if len(notice) <= MAX_WORDS_CHARS else notice[:MAX_WORDS_CHARS],
        model=model[:MAX_WORDS_CHARS],
        created_at=float(figures["created_at"]),
        num_tokens=int(figures["num_tokens"]),
        num_replaced=int(figures["num_replaced"]),
    )
