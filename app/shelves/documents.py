"""What a model reads of a shelf: all documents before everything else, or passages with a message.

Pure functions. The chat's own system prompt comes after the documents, so that chats with different ones
share the documents' cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from app.chats.attachment import PASSAGE, Attachment, fenced
from app.protocol.request import Message, Role
from app.shelves.shelf import Passage

DOCUMENTS = (
    "Here are documents, each with a number. Answer from them where you can, and name the number of what you "
    "used in square brackets, such as [1].\n"
)
PASSAGES = (
    "Passages from the user's files may come with a message, each with a number. Answer from them where you "
    "can, and name the number of what you used in square brackets, such as [1]."
)
CITATION = re.compile(r"\[(\d{1,5})\](?!\()")
BETWEEN = "\n\n"


def documents_text(files: Iterable[tuple[int, str, str]]) -> str:
    """Each file is a number, a name and a text."""
    return "\n".join([DOCUMENTS, *(f"[{number}] {name}\n{fenced(text)}\n" for number, name, text in files)])


def with_text_before(text: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """`text` at the very beginning, in the system message that is there, or one of its own."""
    if messages and messages[0].role is Role.SYSTEM:
        first = replace(messages[0], content=f"{text}{BETWEEN}{messages[0].content}")
        return (first, *messages[1:])
    return (Message(Role.SYSTEM, text), *messages)


def attached(passages: Sequence[Passage], first_number: int) -> tuple[Attachment, ...]:
    """The attachments of a message, numbered on from `first_number`, in the order of the files.

    So what two messages have found in common stands in the same order.
    """
    ordered = sorted(passages, key=lambda one: (one.file_number, one.start))
    return tuple(
        Attachment(f"[{number}] {one.name}:{one.line}", one.text, PASSAGE)
        for number, one in enumerate(ordered, first_number)
    )


def renumbered(attachments: Iterable[Attachment], first_number: int) -> tuple[Attachment, ...]:
    """Its passages anew from `first_number` on; other attachments as they are."""
    numbers, anew = count(first_number), []
    for one in attachments:
        is_passage = one.kind == PASSAGE
        name = f"[{next(numbers)}] {one.name.partition('] ')[2]}" if is_passage else one.name
        anew.append(replace(one, name=name))
    return tuple(anew)


def number_of(attachment: Attachment) -> int:
    """The number of a passage; 0 for anything else."""
    found = CITATION.match(attachment.name) if attachment.kind == PASSAGE else None
    return int(found[1]) if found else 0


def before_citation(text: str) -> str:
    """An answer as it goes on with the number of a passage: in a new paragraph behind code or a table."""
    text = text.rstrip()
    last_line = text.rpartition("\n")[2].lstrip()
    is_prose = last_line[:1].isalnum() and not text.endswith("```")
    return f"{text}{' ' if is_prose else BETWEEN}["


def citation_grammar(numbers: Iterable[int]) -> str:
    """GBNF for the rest of a citation that has begun."""
    return "root ::= " + " | ".join(f'"{number}]"' for number in numbers)


def ends_in_citation(text: str) -> bool:
    return CITATION.fullmatch(text, max(0, text.rfind("["))) is not None


def is_cited(attachment: Attachment, text: str) -> bool:
    """Whether an answer cites this passage."""
    return any(int(number) == number_of(attachment) for number in CITATION.findall(text))


def name_of(attachment: Attachment) -> str:
    """The file that a passage is of."""
    return attachment.name.partition("] ")[2].rpartition(":")[0]


def sentence_before(text: str, number: int) -> str:
    """What an answer says up to its first citation of `number`: since the end of the sentence before."""
    place = text.find(f"[{number}]")
    if place < 0:
        return ""
    before = text[:place].rstrip()
    border = max(
        before.rfind(mark, 0, len(before) - 1) for mark in (". ", "! ", "? ", "\n", "。", "！", "？")
    )
    return CITATION.sub("", before[border + 1 :]).strip()
