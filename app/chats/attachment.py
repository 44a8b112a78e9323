"""The text of a file that is sent with a message. No Qt."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

PASSAGE = "passage"  # of a file on the chat's shelf, found for this message
_FENCES = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class Attachment:
    """`kind` is what the file was, as its reader calls it: "text", "pdf", "docx", "pasted" …"""

    name: str
    text: str
    kind: str = "text"


def with_attachments(text: str, attachments: Iterable[Attachment]) -> str:
    """The message as the model reads it: files first, so that chats about the same file share its cells."""
    return "\n\n".join([*(_quoted(attachment) for attachment in attachments), *([text] if text else [])])


def fenced(text: str, language: str = "") -> str:
    """As a Markdown code block, in a fence that no fence inside can end."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(attachment: Attachment) -> str:
    label = attachment.name if attachment.kind == PASSAGE else f"File: {attachment.name}"
    return f"{label}\n{fenced(attachment.text)}"
