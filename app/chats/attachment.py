"""A file that is sent with a message: its text, or a picture or sound. No Qt."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from app.chats.media import Media, as_object, media_of

_FENCES = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class Attachment:
    """`kind` is what the file was, as its reader calls it: "text", "pdf", "docx", "pasted" …

    A picture or a sound has no text, and its media's kind.
    """

    name: str
    text: str
    kind: str = "text"
    media: Media | None = None


def as_json(attachment: Attachment) -> dict[str, Any]:
    """As it is stored and exported: without `media` where there is none, as before there were any."""
    told: dict[str, Any] = {"name": attachment.name, "text": attachment.text, "kind": attachment.kind}
    return told | ({"media": as_object(attachment.media)} if attachment.media else {})


def from_json(stored: dict[str, Any]) -> Attachment:
    """Raises LookupError or TypeError."""
    return Attachment(stored["name"], stored["text"], stored["kind"], media_of(stored.get("media")))


def media_in(attachments: Iterable[Attachment]) -> Iterator[Media]:
    """Pictures and sounds, in the order in which the model meets them."""
    return (attachment.media for attachment in attachments if attachment.media)


def with_attachments(text: str, attachments: Iterable[Attachment]) -> str:
    """The message as the model reads it: files first, so that chats about the same file share its cells."""
    return "\n\n".join([*(_quoted(attachment) for attachment in attachments), *([text] if text else [])])


def fenced(text: str, language: str = "") -> str:
    """As a Markdown code block, in a fence that no fence inside can end."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(attachment: Attachment) -> str:
    """A model that neither sees nor hears is told that there was something."""
    if attachment.media:
        return f"[{attachment.media.kind.capitalize()}: {attachment.name}]"
    return f"File: {attachment.name}\n{fenced(attachment.text)}"
