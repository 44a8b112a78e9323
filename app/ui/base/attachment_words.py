"""Texts about attached files. Pure functions."""

from app.attachments.refusal import MAX_CHARS, MAX_FILE_BYTES, Reason
from app.bridge.token_counter import TokenCount
from app.chats.attachment import PASSAGE, RECALLED, Attachment
from app.look.figures import count, seconds, tokens
from app.look.plain_text import one_line
from app.look.words import mark, tr, tr_n, tr_said
from app.protocol.media import Media, MediaKind

PASTED = "pasted"
_KINDS = {
    "text": mark("Text"),
    "csv": mark("Table"),
    "json": mark("JSON"),
    "html": mark("Web page"),
    "notebook": mark("Notebook"),
    "pdf": mark("PDF"),
    "docx": mark("Word"),
    "xlsx": mark("Excel"),
    "pptx": mark("PowerPoint"),
    "odt": mark("OpenDocument"),
    "ods": mark("OpenDocument"),
    "odp": mark("OpenDocument"),
    "resource": mark("Resource"),
    PASSAGE: mark("Found on the shelf"),
    RECALLED: mark("From earlier in this chat"),
}
_TABLES = ("csv", "xlsx", "ods")
_REFUSALS = {
    Reason.MISSING: mark("“{name}” no longer exists."),
    Reason.FORBIDDEN: mark("You do not have permission to read “{name}”."),
    Reason.FOLDER: mark("“{name}” is a folder. Attach the files in it instead."),
    Reason.NO_FILE: mark("“{name}” is a pipe or a device, not a file."),
    Reason.EMPTY: mark("“{name}” is empty."),
    Reason.TOO_LARGE: mark("“{name}” is larger than {megabytes} MB. Attach only the part that matters."),
    Reason.TOO_MUCH_TEXT: mark(
        "“{name}” has over {chars} characters, more than any model can read. Attach a part of it."
    ),
    Reason.IMAGE: mark(
        "“{name}” is an image in a format that Skein does not support. Save it as PNG or JPEG."
    ),
    Reason.BINARY: mark("Skein cannot read text from “{name}”. Attach text, PDF or Office files."),
    Reason.NO_TEXT: mark("“{name}” contains no text. If it is a scan, its pages are images."),
    Reason.PASSWORD: mark("“{name}” is password-protected. Attach a copy without a password."),
    Reason.OLD_OFFICE: mark("“{name}” is in an old format. Save it as DOCX, XLSX, PPTX or PDF first."),
    Reason.DAMAGED: mark("“{name}” is damaged, or not the type its name says."),
    Reason.LIMITS: mark(
        "Reading “{name}” took too much time or memory, so it was stopped. The file is damaged or malicious."
    ),
    Reason.SYSTEM: mark("“{name}” could not be read because of a disk or system error. Try again."),
}
PICTURE_PASTED = mark("Pasted picture")
TOO_MANY = mark("{number} files are too many: a message can have {limit}. None was attached.")


def title(attachment: Attachment) -> str:
    """Its name; for pasted text its length, for what was said earlier its place."""
    if attachment.kind == PASTED:
        return tr_n("Pasted text, {n} character", "Pasted text, {n} characters", len(attachment.text))
    if attachment.kind == RECALLED:
        return tr("Message {number}", number=one_line(attachment.name.rpartition(" ")[2]))
    return one_line(attachment.name)


def kind_label(attachment: Attachment) -> str:
    """A kind of a later version is shown as it is. Empty if the title says it."""
    if attachment.kind == PASTED:
        return ""
    if attachment.media:
        return size_label(attachment.media)
    return tr(_KINDS[attachment.kind]) if attachment.kind in _KINDS else one_line(attachment.kind)


def size_label(media: Media) -> str:
    """The size in which a model is shown it. Empty while unknown."""
    if media.kind is MediaKind.SOUND:
        return seconds(media.duration_s) if media.duration_s else ""
    return f"{media.width} × {media.height}" if media.width and media.height else ""


def media_label(attachment: Attachment) -> str:
    """Size and format of a picture or a sound, for its viewer."""
    size = size_label(attachment.media) if attachment.media else ""
    return " · ".join(part for part in (size, attachment.kind.upper()) if part)


def icon_name(attachment: Attachment) -> str:
    if attachment.kind == PASTED:
        return "clipboard"
    if attachment.kind == PASSAGE:
        return "library"
    if attachment.kind == RECALLED:
        return "message-square"
    if attachment.media:
        return "image" if attachment.media.kind is MediaKind.PICTURE else "audio-lines"
    return "table" if attachment.kind in _TABLES else "file-text"


def tokens_text(counted: TokenCount | None) -> str:
    """Empty while unknown."""
    if counted is None or not counted.number:
        return ""
    return tokens(counted.number) if counted.is_exact else tr("about {tokens}", tokens=tokens(counted.number))


def refusal_text(name: str, reason: Reason | str) -> str:
    """Why it was not attached and what to do, in a sentence or two."""
    if not isinstance(reason, Reason):
        return tr("“{name}”: {reason}", name=one_line(name), reason=tr_said(reason))
    megabytes, chars = MAX_FILE_BYTES >> 20, count(MAX_CHARS)
    return tr(_REFUSALS[reason], name=one_line(name), megabytes=megabytes, chars=chars)
