"""A file that is sent with a message: its text, or a picture or sound. No Qt.

A picture or a sound becomes JSON without its file.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from app.protocol.media import Media, MediaKind
from app.protocol.request import Message


def valid_unicode(text: str) -> str:
    """A paste may hold half a surrogate pair, which neither the tokenizer nor the database can encode."""
    if text.isascii():  # known without looking
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


PASSAGE = "passage"  # of a file on the chat's shelf, found for this message
RECALLED = "recalled"  # of an earlier message that a summary stands for, found for this one
IS_FOUND = frozenset((PASSAGE, RECALLED))
_LABELS = {PASSAGE: "", RECALLED: "Said earlier in this conversation: "}  # before the name
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
    """The stored and exported form: without `media` where there is none, as before there were any."""
    fields: dict[str, Any] = {"name": attachment.name, "text": attachment.text, "kind": attachment.kind}
    return fields | ({"media": as_object(attachment.media)} if attachment.media else {})


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
    """A Markdown code block, in a fence that no fence inside can end."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(attachment: Attachment) -> str:
    begin = _LABELS.get(attachment.kind, "File: ")
    return f"{begin}{attachment.name}\n{fenced(attachment.text)}"


_SHA256 = re.compile("[0-9a-f]{64}")
_MAX_SIDE = 1 << 20
MAX_SECONDS = 1e7


def as_object(media: Media) -> dict[str, Any]:
    figures = {"width": media.width, "height": media.height, "duration_s": media.duration_s}
    known = {name: value for name, value in figures.items() if value}
    return {"kind": media.kind, "sha256": media.sha256} | known


def media_of(stored: object) -> Media | None:
    """Without its file. None for anything that is not one."""
    if not isinstance(stored, dict):
        return None
    sha256, kind = stored.get("sha256"), stored.get("kind")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or kind not in tuple(MediaKind):
        return None
    width, height = (number_of(stored.get(name), _MAX_SIDE) for name in ("width", "height"))
    duration_s = number_of(stored.get("duration_s"), MAX_SECONDS)
    return Media(MediaKind(kind), sha256, b"", int(width), int(height), float(duration_s))


def number_of(value: object, maximum: float) -> float:
    """0 for what is none, or out of range."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= maximum else 0  # type: ignore[operator, return-value]
