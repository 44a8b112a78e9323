"""A chat as Markdown that reads well as plain text, too. Any thread."""

import re
from collections.abc import Callable, Iterator

from app.chats.attachment import Attachment, fenced
from app.chats.chat import Chat
from app.chats.exports.spoken import (
    ExportWords,
    Spoken,
    call_title,
    data_url,
    date_of,
    outcome,
    spoken,
    title_of,
)
from app.protocol.media import MediaKind

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")


PlaceOf = Callable[[Attachment], str]  # where the file of a picture or a sound is


def as_text(chat: Chat, words: ExportWords, place_of: PlaceOf = data_url) -> str:
    return "\n\n".join(_parts(chat, words, place_of)) + "\n"


def _parts(chat: Chat, words: ExportWords, place_of: PlaceOf) -> Iterator[str]:
    yield f"# {on_one_line(title_of(chat, words))}"
    yield f"*{words.exported_from} · {date_of(chat.created_at)}*"
    if chat.is_notebook:
        yield chat.text
        return
    if chat.system_prompt:
        yield f"**{words.system_prompt}**"
        yield _quoted(chat.system_prompt)
    for each in spoken(chat, words):
        yield from _turn(each, words, place_of)


def _turn(each: Spoken, words: ExportWords, place_of: PlaceOf) -> Iterator[str]:
    said_by = " · ".join(on_one_line(part) for part in (each.speaker, each.model, each.at) if part)
    yield "---"
    yield f"## {said_by}"
    for attachment in each.attachments:
        if attachment.media:
            yield _media(attachment, place_of)
        else:
            yield _folded(words.attached(attachment), fenced(attachment.text))
    for round_ in each.rounds:
        if round_.reasoning:
            yield _folded(words.thinking, round_.reasoning)
        if round_.content:
            yield round_.content
        for use in round_.uses:
            yield _folded(call_title(use, words), f"{fenced(use.arguments)}\n\n{fenced(outcome(use))}")
    if each.thinking:
        yield _folded(words.thinking, each.thinking)
    if each.text:
        yield each.text
    if each.notice:
        yield f"*{on_one_line(each.notice)}*"
    if each.summary:
        yield _folded(words.summary, each.summary)


def _media(attachment: Attachment, place_of: PlaceOf) -> str:
    assert attachment.media
    mark = "!" if attachment.media.kind is MediaKind.PICTURE else ""
    place = place_of(attachment) if attachment.media.file else ""
    name = on_one_line(attachment.name)
    return f"{mark}[{name}]({place})" if place else f"*{name}*"


def _folded(summary: str, text: str) -> str:
    """GitHub and most viewers fold it; elsewhere it stands there."""
    return f"<details>\n<summary>{on_one_line(summary)}</summary>\n\n{text}\n\n</details>"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def on_one_line(text: str) -> str:
    """With nothing in it that is Markdown or HTML."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
