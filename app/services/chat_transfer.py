"""Exports chats to files and imports them. GUI thread; files are read and written on others.

Knows no widgets. An import is read first, shown for confirmation, and then made in one transaction.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.attachments.file_reading import AnyReading, ReadFile, without_file
from app.bridge.workspace import Workspace
from app.chats.attachment import Attachment
from app.chats.chat import Chat
from app.chats.exports.files import Export, ExportForm, FileExport, FolderExport
from app.chats.exports.spoken import ExportWords
from app.media.reading import MediaRefusedError, ReadingCancelledError
from app.services.chat_library import ChatLibrary
from app.storage.chat_rows import ChatChange, SavedChat
from app.storage.chat_store import ChatStore

if TYPE_CHECKING:
    from app.chats.imports.entries import Problem
    from app.chats.imports.read import Findings, FoundChats

_STEP = 0.01  # between two reports of progress


class StoppedError(Exception):
    """The export or import was cancelled."""


@dataclass(frozen=True)
class ImportPlan:
    """The result of reading: new chats, chats that are here already, and what could not be imported."""

    new: tuple[FoundChats, ...] = ()
    known: tuple[FoundChats, ...] = ()
    problems: tuple[Problem, ...] = ()
    num_changed: int = 0  # of the known ones: those with more or fewer messages
    media: tuple[ReadFile, ...] = ()  # what their messages refer to

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The programs they come from."""
        return tuple(dict.fromkeys(found.source for found in (*self.new, *self.known)))

    @cached_property
    def num_messages(self) -> int:
        """The messages of the new chats."""
        return sum(found.num_messages for found in self.new)

    @cached_property
    def num_left_out(self) -> int:
        return sum(found.num_left_out for found in (*self.new, *self.known))

    @cached_property
    def unread(self) -> Counter[str]:
        """What else is left out: its names in the files, and how often each is there."""
        counts: Counter[str] = Counter()
        for found in (*self.new, *self.known):
            counts.update(found.unread)
        return counts


class ChatTransfer(QObject):
    progressed = Signal(float)  # 0 to 1, while a file is read or written

    def __init__(
        self, workspace: Workspace, store: ChatStore, library: ChatLibrary, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._store = store
        self._chat_library = library
        self._stop = threading.Event()

    def stop(self) -> None:
        """Makes the reading or writing under way raise StoppedError; nothing has changed then."""
        self._stop.set()

    def title_of(self, chat_id: str) -> str:
        summary = self._chat_library.chat(chat_id)
        return summary.title if summary else ""

    async def export_chat(self, chat_id: str, path: Path, form: ExportForm, words: ExportWords) -> None:
        """Raises ExportError, StorageError, StoppedError."""
        await self._export([chat_id], await asyncio.to_thread(FileExport, path, form, words))

    async def export_all(self, path: Path, form: ExportForm, words: ExportWords) -> int:
        """One file of JSON, or a folder with a file for each chat; returns how many.

        Raises ExportError, StorageError, StoppedError.
        """
        on_disk = [summary.id for summary in await self._store.summaries()]
        open_ids = [session.chat.id for session in self._workspace.sessions if not session.is_blank]
        chat_ids = list(dict.fromkeys([*on_disk, *open_ids]))
        return await self.export_chats(chat_ids, path, form, words)

    async def export_chats(
        self, chat_ids: Sequence[str], path: Path, form: ExportForm, words: ExportWords
    ) -> int:
        """Like `export_all`, for these chats."""
        export: Export
        if form is ExportForm.JSON:
            export = await asyncio.to_thread(FileExport, path, form, words, is_list=True)
        else:
            export = await asyncio.to_thread(FolderExport, path, form, words)
        return await self._export(chat_ids, export)

    async def _export(self, chat_ids: Sequence[str], export: Export) -> int:
        num_chats = 0
        self._stop.clear()
        try:
            for number, chat_id in enumerate(chat_ids):
                if self._stop.is_set():
                    raise StoppedError
                if chat := await self._chat(chat_id):
                    await asyncio.to_thread(export.add, chat)
                    num_chats += 1
                self.progressed.emit((number + 1) / len(chat_ids))
            await asyncio.to_thread(export.finish)
        except BaseException:
            await asyncio.to_thread(export.discard)
            raise
        return num_chats

    async def _chat(self, chat_id: str) -> Chat | None:
        """A copy, since an open chat may change meanwhile and may have unsaved turns."""
        session = self._workspace.any_session_of(chat_id)
        if session and session.is_loaded:
            return await self._with_files(_copy(session.chat))
        kept = await self._store.load_chat(chat_id)
        return await self._with_files(await self._loaded(kept)) if kept else None

    async def _with_files(self, chat: Chat) -> Chat:
        """The copy itself, in which pictures and sounds have their files, as far as they are not lost."""
        for turn in chat.all_turns():
            if any(each.media for each in turn.attachments):
                turn.attachments = tuple([await self._with_file(each) for each in turn.attachments])
        return chat

    async def _with_file(self, attachment: Attachment) -> Attachment:
        if attachment.media is None:
            return attachment
        file = await self._store.media(attachment.media.sha256) or b""
        return replace(attachment, media=replace(attachment.media, file=file))

    async def _loaded(self, kept: SavedChat) -> Chat:
        turns = await self._store.load_turns(kept)
        return replace(kept.chat, turns=turns.shown, asides=turns.asides)

    async def read(self, paths: Iterable[Path]) -> ImportPlan:
        """Changes nothing. Raises StorageError, StoppedError."""
        self._stop.clear()
        await self._workspace.autosave.flush()  # so that the newest messages count, too
        findings = await asyncio.to_thread(
            _findings, tuple(paths), _ProgressReporter(asyncio.get_running_loop(), self)
        )
        looked_at = _LookedAt()
        findings.chats = [await self._with_media_read(found, looked_at) for found in findings.chats]
        here = {summary.id: summary.num_turns for summary in await self._store.summaries()}
        plan = await asyncio.to_thread(_plan, findings, here)
        return replace(plan, media=tuple(one for one in looked_at.values() if one))

    async def _with_media_read(self, found: FoundChats, looked_at: _LookedAt) -> FoundChats:
        """Its pictures and sounds, without their files; those that cannot be read are left out."""
        num_left_out = found.num_left_out
        for turn in found.chat.all_turns():
            kept = []
            for attachment in turn.attachments:
                media = attachment.media
                if media and media.file:
                    if self.is_stopped:
                        raise StoppedError
                    if media.sha256 not in looked_at:
                        looked_at[media.sha256] = await asyncio.to_thread(_read_media, attachment)
                    read = looked_at[media.sha256]
                    if read is None:
                        num_left_out += 1
                        continue
                    attachment = replace(without_file(read.attachment), name=attachment.name)
                kept.append(attachment)
            turn.attachments = tuple(kept)
        return replace(found, num_left_out=num_left_out)

    async def import_chats(self, plan: ImportPlan, with_known: bool = False) -> tuple[str, ...]:
        """All of them or, with a StorageError, none. Known chats are imported as copies, if at all."""
        changes = await asyncio.to_thread(_changes, plan, with_known)
        for read in plan.media:
            await self._workspace.media.keep(read)
        await self._store.import_chats(changes)
        await self._chat_library.load()
        return tuple(change.chat.id for change in changes)

    def take_back(self, chat_ids: Sequence[str]) -> None:
        """Undoes an import: the chats are deleted."""
        self._chat_library.delete(chat_ids)

    def report_progress(self, fraction: float) -> None:
        self.progressed.emit(fraction)

    @property
    def is_stopped(self) -> bool:
        """Any thread."""
        return self._stop.is_set()


class _ProgressReporter:
    """Called on the reading thread: reports progress to the GUI thread now and then, and raises to stop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transfer: ChatTransfer) -> None:
        self._loop = loop
        self._transfer = transfer
        self._reported = 0.0

    def __call__(self, fraction: float) -> None:
        if self._transfer.is_stopped:
            raise StoppedError
        if fraction - self._reported >= _STEP:
            self._reported = fraction
            self._loop.call_soon_threadsafe(self._transfer.report_progress, fraction)


_LookedAt = dict[str, ReadFile | None]  # by SHA-256; None: it cannot be read


def _findings(paths: tuple[Path, ...], report: _ProgressReporter) -> Findings:
    from app.chats.imports.read import read  # on this thread: all the formats there are take 30 ms

    return read(paths, report)


def _read_media(attachment: Attachment) -> ReadFile | None:
    assert attachment.media
    try:
        return AnyReading(attachment.media.file, attachment.name).run()
    except (MediaRefusedError, ReadingCancelledError):
        return None


def _plan(findings: Findings, here: dict[str, int]) -> ImportPlan:
    """`here` has the chats that are here already, and how many messages each has."""
    new: list[FoundChats] = []
    known: list[FoundChats] = []
    num_changed = 0
    for found in findings.chats:
        num_here = here.setdefault(found.chat.id, -1)
        (known if num_here >= 0 else new).append(found)
        num_changed += num_here >= 0 and num_here != found.num_messages
        here[found.chat.id] = found.num_messages
    plan = ImportPlan(tuple(new), tuple(known), tuple(findings.problems), num_changed)
    _ = (
        plan.sources,
        plan.num_messages,
        plan.num_left_out,
        plan.unread,
    )  # counted here, not when they are shown
    return plan


def _changes(plan: ImportPlan, with_known: bool) -> list[ChatChange]:
    from app.chats.imports.tree import renewed

    copies = [renewed(found.chat) for found in plan.known] if with_known else []
    return [ChatChange.of(chat) for chat in (*(found.chat for found in plan.new), *copies)]


def _copy(chat: Chat) -> Chat:
    return replace(
        chat,
        turns=[replace(turn) for turn in chat.turns],
        asides={parent: [replace(turn) for turn in turns] for parent, turns in chat.asides.items()},
        sampling=dict(chat.sampling),
    )
