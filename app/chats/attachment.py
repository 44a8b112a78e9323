"""A file that is sent with a message: its text, or a picture or sound. No Qt."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from app.chats.media_json import as_object, media_of
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message

PASSAGE = "passage"  # of a file on the chat's shelf, found for this message
_FENCES = re.compile("`{3,}")
_BETWEEN = "\n\n"
_UNSENSED = {
    MediaKind.PICTURE: "[A picture, which you cannot see.]\n\n",
    MediaKind.SOUND: "[A sound, which you cannot hear.]\n\n",
}


@dataclass(frozen=True, slots=True)
class Attachment:
    """`kind` is what the file was, as its reader calls it: "text", "pdf", "docx", "pasted" …

    A picture or a sound has no text; its kind is the format of its file: "png", "wav" …
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


def placed_media(attachments: Iterable[Attachment], num_chars: int) -> tuple[Media, ...]:
    """Pictures and sounds, each before the part of the message that follows it: see `with_attachments`,
    whose result has so many characters.
    """
    placed: list[Media] = []
    length = 0
    for attachment in attachments:
        if attachment.media:
            placed.append(replace(attachment.media, at=min(length, num_chars)))
        else:
            length += len(_quoted(attachment)) + len(_BETWEEN)
    return tuple(placed)


def in_words(message: Message, is_taken: Callable[[Media], bool]) -> Message:
    """With words in the place of media that the model is not shown: it is told that they are there."""
    if all(map(is_taken, message.media)):
        return message
    content: list[str] = []
    kept: list[Media] = []
    end = shift = 0
    for media in message.media:
        content.append(message.content[end : media.at])
        end = media.at
        if is_taken(media):
            kept.append(replace(media, at=media.at + shift))
        else:
            content.append(_UNSENSED[media.kind])
            shift += len(content[-1])
    content.append(message.content[end:])
    return replace(message, content="".join(content), media=tuple(kept))


def with_attachments(text: str, attachments: Iterable[Attachment]) -> str:
    """The message as the model reads it: files first, so that chats about the same file share its cells.

    Pictures and sounds are no part of the text.
    """
    files = (_quoted(attachment) for attachment in attachments if not attachment.media)
    return _BETWEEN.join([*files, *([text] if text else [])])


def fenced(text: str, language: str = "") -> str:
    """As a Markdown code block, in a fence that no fence inside can end."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(attachment: Attachment) -> str:
    label = attachment.name if attachment.kind == PASSAGE else f"File: {attachment.name}"
    return f"{label}\n{fenced(attachment.text)}"
