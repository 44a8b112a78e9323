"""Writes chats to disk atomically: an export is complete, or nothing was changed. Any thread, one at a time.

An export is begun, given its chats one after the other, and finished or discarded, so that a thousand chats
never have to be in memory together.
"""

import contextlib
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TextIO

from app.chats.attachment import Attachment, valid_unicode
from app.chats.chat import Chat
from app.chats.exports import markdown, skein
from app.chats.exports.spoken import ExportWords, data_url, media_file_name, title_of
from app.system.said import said

MAX_NAME_CHARS = 80
MEDIA_FOLDER = "media"
_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
# Names of devices on Windows.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


class ExportForm(StrEnum):
    """The values are the endings of the files."""

    JSON = "json"
    MARKDOWN = "md"
    HTML = "html"


class ExportError(Exception):
    """Nothing was written; the message says why and what to do."""


class FileExport:
    """One chat in one file, or, as JSON, many. The file belongs to its owner alone."""

    def __init__(self, path: Path, form: ExportForm, words: ExportWords, is_list: bool = False) -> None:
        assert not is_list or form is ExportForm.JSON
        self._path, self._form, self._words, self._is_list = path, form, words, is_list
        self._num_chats = 0
        self._temporary: Path | None = None
        with _explained(path):
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
            self._temporary = Path(name)
            self._file: TextIO = os.fdopen(handle, "w", encoding="utf-8", newline="\n")
            self._file.write("[\n" if is_list else "")

    def add(self, chat: Chat) -> None:
        """Raises ExportError."""
        assert self._is_list or self._num_chats == 0, "one file, one chat"
        with _explained(self._path):
            self._file.write(",\n" if self._num_chats else "")
            self._file.write(as_text(chat, self._form, self._words))
        self._num_chats += 1

    def finish(self) -> None:
        """Raises ExportError."""
        assert self._temporary
        with _explained(self._path):
            self._file.write("\n]\n" if self._is_list else "")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._temporary.replace(self._path)

    def discard(self) -> None:
        with contextlib.suppress(OSError):  # what could not be written cannot be flushed, either
            self._file.close()
        if self._temporary:
            self._temporary.unlink(missing_ok=True)


class FolderExport:
    """Each chat in a file of its own, in a folder that must not be there yet.

    Pictures and sounds of Markdown lie beside them, in a folder of their own.
    """

    def __init__(self, path: Path, form: ExportForm, words: ExportWords) -> None:
        self._path, self._form, self._words = path, form, words
        self._names: set[str] = set()
        with _explained(path):
            if path.exists():
                raise ExportError(said("{name} already exists. Choose another name.", name=path.name))
            self._temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:40]}."))

    def add(self, chat: Chat) -> None:
        """Raises ExportError."""
        name = free_name(title_of(chat, self._words), self._form, self._names)
        self._names.add(name.casefold())
        with _explained(self._path):
            _write(self._temporary / name, as_text(chat, self._form, self._words, self._place_of).encode())

    def _place_of(self, attachment: Attachment) -> str:
        """Writes its file, once, and returns where it lies from a chat's file."""
        assert attachment.media
        name = f"{attachment.media.sha256[:16]}{PurePath(media_file_name(attachment)).suffix}"
        place = self._temporary / MEDIA_FOLDER / name
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            _write(place, attachment.media.file)
        return f"{MEDIA_FOLDER}/{name}"

    def finish(self) -> None:
        """Raises ExportError."""
        with _explained(self._path):
            self._temporary.rename(self._path)

    def discard(self) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)


Export = FileExport | FolderExport


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def as_text(chat: Chat, form: ExportForm, words: ExportWords, place_of: markdown.PlaceOf = data_url) -> str:
    """`place_of` is for Markdown; the others have pictures and sounds in themselves."""
    if form is ExportForm.JSON:
        return skein.as_text(chat)
    if form is ExportForm.MARKDOWN:
        page = markdown.as_text(chat, words, place_of)
    else:
        from app.chats.exports import web_page  # with all that reads Markdown

        page = web_page.as_text(chat, words)
    return valid_unicode(page)


def file_name(title: str, form: ExportForm) -> str:
    """A file name that is valid on every system."""
    plain = "".join(char for char in title if unicodedata.category(char) not in ("Cc", "Cf", "Cs"))
    name = " ".join(_NOT_IN_NAMES.sub(" ", plain).split())[:MAX_NAME_CHARS].strip(" .")
    if not name or _RESERVED.match(name):
        name = f"chat {name}".strip()
    while len(name.encode()) > 200:  # most disks allow 255 bytes
        name = name[:-1]
    return f"{name}.{form}"


def free_name(title: str, form: ExportForm, taken: set[str]) -> str:
    """`taken` holds names as by `str.casefold`: many file systems ignore case."""
    name = file_name(title, form)
    number = 2
    while name.casefold() in taken:
        name = file_name(f"{title[: MAX_NAME_CHARS - 8]} ({number})", form)
        number += 1
    return name


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(
            said(
                "{name} could not be saved: {reason}. Choose another folder, or free some disk space.",
                name=path.name,
                reason=error.strerror or str(error),
            )
        ) from error
