"""Reads files of chats. The program that wrote them is recognised by content, not by name. Any thread.

Takes files of JSON and JSON Lines, .zip archives of them, and folders. Only archives are unpacked to disk,
into a temporary folder and under names of our own.
"""

import lzma
import mmap
import os
import re
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any

from app.chats.chat import Chat
from app.chats.imports import chatgpt, jan, llama_ui, lm_studio, open_webui, skein
from app.chats.imports.entries import (
    MAX_ENTRY_BYTES,
    MAX_OTHERS,
    BadChatError,
    NoChatsError,
    Problem,
    Progress,
    entries,
    no_chats,
    not_readable,
    parse,
    too_large,
)
from app.chats.imports.sketch import Sketch, name_of, unread
from app.chats.imports.tree import chat_of
from app.system.said import said

MAX_FILE_BYTES = 1 << 30
MAX_READ_BYTES = 128 << 20  # a larger file is mapped; one that shrinks then would end the program
MAX_FILES = 20_000
MAX_CHATS = 100_000
MAX_MEMBERS = (
    10 * MAX_FILES
)  # of an archive, pictures among them: each takes time and memory before it is seen
MAX_FOLDER_DEPTH = 6
MAX_PROBLEMS = 1_000  # a file with more is of another kind
_CHUNK = 1 << 20
_MAX_END_BYTES = (
    1 << 16
) + 1024  # of an archive: its last record with a comment, and that of ZIP64 before it
_USUAL_MEMBER_BYTES = 128  # in the archive's list of members
_SUFFIXES = (".json", ".jsonl", ".zip")
MAX_ASSET_BYTES = 256 << 20  # of all pictures: they are in memory until they are imported
_ASSETS = "assets"
_ASSET = re.compile(r"file[-_][A-Za-z0-9_]{8,80}")


@dataclass(frozen=True)
class FoundChats:
    """One chat and the program it comes from."""

    chat: Chat
    source: str
    num_left_out: int = 0  # images and the like
    unread: Counter[str] = field(
        default_factory=Counter
    )  # what else: names in the file, how often each is there

    @cached_property
    def num_messages(self) -> int:
        """Counted once: a chat may have millions."""
        return sum(1 for _turn in self.chat.all_turns())


@dataclass(slots=True)
class Findings:
    chats: list[FoundChats] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read(paths: Iterable[Path], on_progress: Progress = lambda _fraction: None) -> Findings:
    """All chats in these files and folders, and what could not be taken. Raises what `on_progress` raises."""
    findings = Findings()
    chosen = list(paths)
    for number, path in enumerate(chosen):
        _take(path, path.name, findings, _part(on_progress, number, len(chosen)), is_asked_for=True)
    return findings


def _take(
    path: Path,
    name: str,
    findings: Findings,
    on_progress: Progress,
    *,
    is_asked_for: bool,
    may_be_archive: bool = True,
) -> None:
    """A bad file adds only its problem. A file found in a folder may be of any kind, so it is passed over."""
    try:
        found = _read_path(path, name, on_progress, may_be_archive)
    except NoChatsError as error:
        if is_asked_for:
            findings.problems.append(Problem(name, 0, "", error.reason))
    except BadChatError as error:
        findings.problems.append(Problem(name, 0, "", error.reason))
    except OSError as error:
        findings.problems.append(Problem(name, 0, "", not_readable(error).reason))
    else:
        findings.chats += found.chats
        findings.problems += found.problems


def _read_path(path: Path, name: str, on_progress: Progress, may_be_archive: bool) -> Findings:
    if path.is_dir():
        found = _read_folder(path, on_progress)
    elif path.exists() and not path.is_file():
        raise no_chats()  # a pipe: to open it would wait forever
    elif may_be_archive and zipfile.is_zipfile(path):
        found = _read_archive(path, on_progress)
    else:
        found = _read_file(path, name, on_progress)
    if not found.chats and not found.problems:
        raise no_chats()
    return found


def _read_folder(folder: Path, on_progress: Progress, unpacked: Mapping[Path, str] | None = None) -> Findings:
    """Files of other kinds are passed over: settings, pictures.

    `unpacked` says what its files were called in the archive they come from. They are no archives themselves:
    one that holds itself would never end.
    """
    findings = Findings()
    files = sorted(_files_below(folder))
    for number, path in enumerate(files):
        name = str(path.relative_to(folder)) if unpacked is None else unpacked[path]
        part = _part(on_progress, number, len(files))
        _take(path, name, findings, part, is_asked_for=False, may_be_archive=unpacked is None)
    return findings


def _files_below(folder: Path) -> Iterator[Path]:
    num_files = 0
    for parent, folders, names in os.walk(folder):  # follows no links
        if len(Path(parent).relative_to(folder).parts) >= MAX_FOLDER_DEPTH:
            folders.clear()
        for name in names:
            path = Path(parent, name)
            if path.suffix in _SUFFIXES and name != jan.MESSAGES and not path.is_symlink():
                num_files += 1
                if num_files > MAX_FILES:
                    raise _too_many_files()
                yield path


def _read_archive(path: Path, on_progress: Progress) -> Findings:
    with tempfile.TemporaryDirectory(prefix="skein-import-") as folder:
        try:
            if _num_members(path) > MAX_MEMBERS:
                raise _too_many_files()
            with zipfile.ZipFile(path) as archive:
                unpacked = _unpack(archive, Path(folder), on_progress)
        except (
            zipfile.BadZipFile,
            zlib.error,
            lzma.LZMAError,
            EOFError,
            NotImplementedError,
            ValueError,
            struct.error,
        ) as error:
            reason = said(
                "The archive cannot be unpacked: {reason}. Download it again, or unpack it manually.",
                reason=str(error),
            )
            raise BadChatError(reason) from None
        return _read_folder(Path(folder), on_progress, unpacked)


def _num_members(path: Path) -> int:
    """What its last record says, or what its list of entries, which is read whole, has room for."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(-min(file.tell(), _MAX_END_BYTES), os.SEEK_CUR)
        end = file.read()
    at = end.rfind(b"PK\x05\x06")
    number, num_bytes = struct.unpack_from("<HI", end, at + 10)
    if (wide := end.rfind(b"PK\x06\x06", 0, max(at, 0))) >= 0:  # ZIP64
        number, num_bytes = struct.unpack_from("<QQ", end, wide + 32)
    return max(int(number), int(num_bytes) // _USUAL_MEMBER_BYTES)


def _unpack(archive: zipfile.ZipFile, folder: Path, on_progress: Progress) -> dict[Path, str]:
    """Unpacks its JSON files, in total at most the limit of one file. Returns their paths and names."""
    unpacked: dict[Path, str] = {}
    left = _unpack_assets(archive, folder / _ASSETS, on_progress)
    members = [member for member in archive.infolist() if _is_wanted(member)]
    if len(members) > MAX_FILES:
        raise _too_many_files()
    for number, member in enumerate(members):
        if member.flag_bits & 1:
            raise BadChatError(said("The archive is password-protected. Unpack it, then import the files."))
        place = _place(folder, member, number)
        left = _unpack_member(archive, member, place, left, on_progress)
        unpacked[place] = member.filename
    return unpacked


def _unpack_assets(archive: zipfile.ZipFile, folder: Path, on_progress: Progress) -> int:
    """Pictures, by the ids that chats have for them. Returns how many bytes are left for the chats."""
    folder.mkdir()
    left = MAX_ASSET_BYTES
    for member in archive.infolist():
        found = _ASSET.match(PurePosixPath(member.filename).name)
        if found and not member.flag_bits & 1 and member.file_size <= left:
            left = _unpack_member(archive, member, folder / found[0], left, on_progress)
    return MAX_FILE_BYTES - (MAX_ASSET_BYTES - left)


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    return not member.is_dir() and Path(member.filename).suffix in (".json", ".jsonl")


def _place(folder: Path, member: zipfile.ZipInfo, number: int) -> Path:
    """Names in an archive never become paths. Only the two files of a Jan thread keep theirs."""
    parent, _slash, name = member.filename.replace("\\", "/").rpartition("/")
    if name in (jan.THREAD, jan.MESSAGES):
        together = folder / f"thread-{zlib.crc32(parent.encode('utf-8', 'replace')):08x}"
        together.mkdir(exist_ok=True)
        return together / name
    return folder / f"{number:06d}.json"


def _unpack_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, left: int, on_progress: Progress
) -> int:
    with archive.open(member) as packed, target.open("wb") as file:
        while chunk := packed.read(_CHUNK):
            on_progress(0.0)  # it may want to stop
            left -= len(chunk)
            if left < 0:
                raise too_large(MAX_FILE_BYTES >> 20)
            file.write(chunk)
    return left


def _read_file(path: Path, name: str, on_progress: Progress) -> Findings:
    if path.name == jan.MESSAGES:
        path = path.with_name(jan.THREAD)  # which is read with its messages
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise too_large(MAX_FILE_BYTES >> 20)
    if size == 0:
        raise NoChatsError(said("The file is empty. Export it again."))
    if size <= MAX_READ_BYTES:
        return _read_entries(path.read_bytes(), path, name, on_progress)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as buffer:
        return _read_entries(buffer, path, name, on_progress)


def _read_entries(buffer: bytes | mmap.mmap, path: Path, name: str, on_progress: Progress) -> Findings:
    findings = Findings()
    num_others = 0
    for number, (end, stored) in enumerate(_objects(buffer, on_progress), start=1):
        title = ""
        try:
            if isinstance(stored, BadChatError):
                raise stored
            title = name_of(stored.get("title")) or name_of(stored.get("name"))
            if found := _found(stored, path):
                findings.chats.append(found)
            else:
                num_others += 1
        except BadChatError as error:
            findings.problems.append(Problem(name, number, title, error.reason))
        is_of_no_program = num_others > 0 and not findings.chats and end > MAX_ENTRY_BYTES
        if len(findings.problems) > MAX_PROBLEMS or num_others > MAX_OTHERS or is_of_no_program:
            raise no_chats()
        if len(findings.chats) > MAX_CHATS:
            count = f"{MAX_CHATS:,}"
            raise BadChatError(said("It contains more than {count} chats. Import it in parts.", count=count))
    return findings


def _objects(
    buffer: bytes | mmap.mmap, on_progress: Progress
) -> Iterator[tuple[int, dict[str, Any] | BadChatError]]:
    """Each object, or why it cannot be read, and where it ends. The lines of a session are one object."""
    session: llama_ui.Session | None = None
    for entry in entries(buffer, on_progress):
        try:
            stored = parse(buffer, entry, on_progress)
        except BadChatError as error:
            yield entry.end, error
            continue
        begins = llama_ui.begins_session(stored)
        if session and "type" in stored and not begins:
            session.add(stored, buffer[entry.start : entry.end])
            continue
        if session:
            yield entry.start, session.entry
        session = llama_ui.Session(stored) if begins else None
        if not begins:
            yield entry.end, stored
    if session:
        yield len(buffer), session.entry


_READERS = (open_webui, lm_studio, llama_ui)


def _found(stored: dict[str, Any], path: Path) -> FoundChats | None:
    """None for an object that is no chat of any program."""
    if skein.is_mine(stored):
        return FoundChats(skein.chat_of(stored), skein.NAME, unread=unread(stored, skein.SHAPE))
    if chatgpt.is_mine(stored):
        return _from_sketch(chatgpt.sketch(stored, partial(_asset, path.parent)), chatgpt.NAME)
    for reader in _READERS:
        if reader.is_mine(stored):
            return _from_sketch(reader.sketch(stored), reader.NAME)
    if path.name == jan.THREAD and jan.is_mine(stored):
        return _from_sketch(jan.sketch(stored, path.parent), jan.NAME)
    return None


def _asset(folder: Path, file_id: str) -> Path | None:
    """A picture that came with the chats, in their archive or beside them."""
    if not _ASSET.fullmatch(file_id):
        return None
    unpacked = folder / _ASSETS / file_id
    return unpacked if unpacked.exists() else next(folder.glob(f"{file_id}*"), None)


def _from_sketch(sketch: Sketch, source: str) -> FoundChats:
    return FoundChats(chat_of(sketch, source), source, sketch.num_left_out, +sketch.unread)


def _too_many_files() -> BadChatError:
    return BadChatError(
        said("It contains more than {count} files. Import it in parts.", count=f"{MAX_FILES:,}")
    )


def _part(on_progress: Progress, number: int, count: int) -> Progress:
    return lambda fraction: on_progress((number + fraction) / count)
