"""A chat as a reader sees it: the shown turns, with speaker, thinking and answer separated. Any thread.

The labels come in the user's language from the caller. Pictures and sounds have a name, a type and data.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from app.chats.attachment import RECALLED, Attachment
from app.chats.chat import Chat, Turn
from app.chats.tool_use import ToolRound, ToolState, ToolUse, result_for_model
from app.protocol.request import Role


@dataclass(frozen=True, slots=True)
class ExportWords:
    user: str = "You"
    assistant: str = "Assistant"
    system: str = "System"
    tool: str = "Tool"
    system_prompt: str = "System prompt"
    thinking: str = "Thinking"
    summary: str = "Summary of the messages above"
    attachment: str = "Attached file"
    recalled: str = "From earlier in this chat"
    exported_from: str = "Exported from Skein"
    untitled: str = "New chat"

    def attached(self, attachment: Attachment) -> str:
        """What stands above its text."""
        return f"{self.recalled if attachment.kind == RECALLED else self.attachment}: {attachment.name}"


@dataclass(frozen=True, slots=True)
class Spoken:
    role: Role
    speaker: str
    model: str
    at: str  # local time, "2026-11-21 17:40"
    thinking: str
    text: str
    notice: str
    attachments: tuple[Attachment, ...]
    rounds: tuple[ToolRound, ...] = ()
    summary: str = ""  # that the model reads in the place of all up to here


def spoken(chat: Chat, words: ExportWords) -> Iterator[Spoken]:
    """Empty turns are left out, unless they failed and have a notice."""
    speakers = {
        Role.USER: words.user,
        Role.ASSISTANT: words.assistant,
        Role.SYSTEM: words.system,
        Role.TOOL: words.tool,
    }
    for turn in chat.turns:
        if turn.notice or not turn.is_empty:
            yield _spoken(turn, speakers[turn.role])


def title_of(chat: Chat, words: ExportWords) -> str:
    has_name = chat.title or chat.auto_title or any(turn.role is Role.USER for turn in chat.turns)
    return " ".join(chat.display_title.split()) if has_name else words.untitled


def date_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _spoken(turn: Turn, speaker: str) -> Spoken:
    split = turn.split if turn.role is Role.ASSISTANT else None
    return Spoken(
        turn.role,
        speaker,
        turn.model,
        date_of(turn.created_at),
        split.thinking if split else "",
        split.answer if split else turn.text,
        turn.notice,
        turn.attachments,
        tuple(turn.rounds),
        turn.used_summary.text if turn.used_summary else "",
    )


def call_title(use: ToolUse, words: ExportWords) -> str:
    return f"{words.tool}: {use.tool} ({use.seconds:.1f} s)" if use.seconds else f"{words.tool}: {use.tool}"


def outcome(use: ToolUse) -> str:
    """All of the result, or why there is none."""
    return use.result or ("" if use.state is ToolState.DONE else result_for_model(use))


# By the format as its reader calls it: the ending of a file, and its type.
_FORMATS = {
    "png": ("png", "image/png"),
    "jpeg": ("jpg", "image/jpeg"),
    "gif": ("gif", "image/gif"),
    "webp": ("webp", "image/webp"),
    "bmp": ("bmp", "image/bmp"),
    "tiff": ("tif", "image/tiff"),
    "avif": ("avif", "image/avif"),
    "wav": ("wav", "audio/wav"),
    "flac": ("flac", "audio/flac"),
    "ogg": ("ogg", "audio/ogg"),
    "mp3": ("mp3", "audio/mpeg"),
    "aiff": ("aif", "audio/aiff"),
}
_UNKNOWN = ("bin", "application/octet-stream")


def media_file_name(attachment: Attachment) -> str:
    """Its own, with the ending of its format."""
    ending, _ = _FORMATS.get(attachment.kind, _UNKNOWN)
    path = PurePath(PurePath(attachment.name).name)
    known = {f".{ending}", f".{attachment.kind}"}
    return path.name if path.suffix.lower() in known else f"{path.stem or 'file'}.{ending}"


def data_url(attachment: Attachment) -> str:
    assert attachment.media
    _, kind = _FORMATS.get(attachment.kind, _UNKNOWN)
    return f"data:{kind};base64,{base64.b64encode(attachment.media.file).decode()}"
