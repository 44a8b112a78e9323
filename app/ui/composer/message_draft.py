"""Connects a chat with its composer: the draft, its files, its tokens, and sending it.

GUI thread.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.attachments.refusal import Reason
from app.bridge.chat_session import ChatSession
from app.bridge.recorder import Recorder
from app.bridge.tasks import spawn
from app.bridge.token_counter import Counted, TokenCount, estimated
from app.chats.attachment import Attachment, with_attachments
from app.look.file_dialog import choose_files
from app.look.strip import Offer
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.protocol.media import MediaKind
from app.protocol.report import SlotSnapshot
from app.protocol.request import Role
from app.ui.base.attachment_words import PICTURE_PASTED, TOO_MANY, refusal_text
from app.ui.base.picture_viewer import open_media, save_media
from app.ui.base.screenshot import Screenshot
from app.ui.base.thumbnails import Thumbnails
from app.ui.composer.composer import Composer
from app.ui.composer.context_meter import ContextFigures, forecast, never_computed, num_held, num_used

COUNT_AFTER_MS = 250  # of quiet
MAX_FILES = 20
PROJECTOR_NEEDED = mark(
    "A model made for it needs its projector, a file named mmproj-….gguf, in the same folder."
)
_MISSED = {
    MediaKind.PICTURE: mark("This model cannot see pictures; it is only told that there is one."),
    MediaKind.SOUND: mark("This model cannot hear; it is only told that there is a sound."),
}


class MessageDraft(QObject):
    sent = Signal()  # a message was sent or queued

    def __init__(
        self, session: ChatSession, composer: Composer, thumbnails: Thumbnails, parent: QObject
    ) -> None:
        """Call `show_state` once it is to be seen."""
        super().__init__(parent)
        self._session = session
        self._composer = composer
        self._thumbnails = thumbnails
        composer.chips.set_thumbnails(thumbnails)
        self._slot: SlotSnapshot | None = None
        self._is_hibernated = False
        self._n_ctx = 0
        self._never_computed = ""
        self._draft_count, self._num_tools = TokenCount(0), 0  # tokens
        self._are_tools_listed = False
        self._recorder = Recorder(session.media.devices, self)
        self._finding: asyncio.Task[None] | None = None  # passages for the draft
        self._count_timer = QTimer(self, singleShot=True, interval=COUNT_AFTER_MS)
        self._connect()
        composer.set_attachments(session.draft_attachments)
        composer.begin_with(session.draft)
        session.draft = composer.editor.toPlainText()

    def set_slot(self, slot: SlotSnapshot | None, n_ctx: int, *, is_hibernated: bool) -> None:
        """The chat's slot, if it has one. `n_ctx` is the context available to one chat."""
        self._slot, self._n_ctx, self._is_hibernated = slot, n_ctx, is_hibernated
        self.show_figures()

    @Slot()
    def show_state(self) -> None:
        session, composer = self._session, self._composer
        composer.set_busy(session.is_busy, can_insert=session.is_loaded)
        composer.set_enter_sends(session.enter_sends)
        self._show_waiting()
        self._num_tools = session.tools.num_tokens or 0
        self._are_tools_listed = session.tools.are_listed
        self._never_computed = "" if session.is_busy else never_computed(session.chat, session.shelf)
        self.show_figures()
        self._count_timer.start()

    @Slot()
    def show_figures(self) -> None:
        session, composer = self._session, self._composer
        figures = self._figures()
        composer.meter.apply(figures)
        composer.show_forecast(sentences(forecast(figures, session.overflow), self._destination()))
        composer.show_senses(self._senses_trouble())
        self._show_recording()
        composer.chips.show_tokens(session.tokens.num_tokens)

    def stop(self) -> None:
        """Nothing is counted or recorded any more."""
        self._count_timer.stop()
        self._recorder.discard()

    def attach(self, paths: Sequence[Path]) -> None:
        """Reads them in the background."""
        if self._has_room_for(len(paths)):
            self._session.files.read_files(paths)

    @Slot(object)
    def attach_picture(self, content: bytes) -> None:
        """Attaches a picture that is no file."""
        self.attach_bytes(content, tr(PICTURE_PASTED))

    def attach_bytes(self, content: bytes, name: str) -> None:
        """Attaches the content of a picture or a sound."""
        if self._has_room_for(1):
            self._session.files.read_bytes(content, name)

    def take_screenshot(self) -> None:
        if self._has_room_for(1):
            screenshot = Screenshot(self._composer.window())
            screenshot.taken.connect(self._on_screenshot)
            screenshot.kept.connect(self._on_screenshot_kept)
            screenshot.failed.connect(self._composer.notice.add_problem)
            screenshot.begin()

    @Slot(object)
    def _on_screenshot(self, content: bytes) -> None:
        self.attach_bytes(content, tr("Screenshot"))

    @Slot(object)
    def _on_screenshot_kept(self, path: Path) -> None:
        self.attach([path])

    def _has_room_for(self, num_new: int) -> bool:
        session = self._session
        num_files = num_new + len(session.draft_attachments) + len(session.files.names)
        if num_files > MAX_FILES:
            self._composer.notice.add_problem(tr(TOO_MANY, number=num_files, limit=MAX_FILES))
            return False
        self._composer.notice.clear()
        return True

    @Slot()
    def choose_files(self) -> None:
        choose_files(self._composer, tr("Attach files"), self.attach)

    def _figures(self) -> ContextFigures:
        session = self._session
        # The slot of a notebook may hold more than is left of its text.
        holds_more = session.chat.is_notebook and not session.is_busy
        used = num_used(session.chat, None if holds_more else self._slot)
        cached = used if self._is_hibernated else min(used, num_held(self._slot))
        counted, draft = self._num_tokens((self._never_computed,)), self._count_of_draft()
        num_new = counted.number if counted else estimated(self._never_computed)
        return ContextFigures(
            used=used + num_new + (0 if used else self._num_tools),
            cached=cached,
            draft=draft.number,
            limit=session.context_limit(self._n_ctx),
            tools=self._num_tools,
            are_tools_listed=self._are_tools_listed,
            is_estimated=not draft.is_exact,
            is_used_estimated=bool(self._never_computed),
        )

    def _count_of_draft(self) -> TokenCount:
        """While the user types, the last count."""
        self._draft_count = self._num_tokens(self._draft_texts()) or self._draft_count
        return self._draft_count

    def _draft_texts(self) -> tuple[Counted, ...]:
        """The texts of draft and files, the fences around files, and media. Copies no long text."""
        attachments = self._session.draft_attachments
        frames = (with_attachments("", (replace(each, text=""),)) for each in attachments)
        return (self._session.draft, *(each.media or each.text for each in attachments), *frames)

    def _num_tokens(self, texts: Sequence[Counted]) -> TokenCount | None:
        """None until all of them are counted."""
        known = [count for text in texts if (count := self._session.tokens.num_tokens(text))]
        if len(known) < len(texts):
            return None
        return TokenCount(sum(one.number for one in known), all(one.is_exact for one in known))

    def _senses_trouble(self) -> str:
        """Why the model is not shown what the draft holds, and what would help."""
        senses = self._session.requests.senses
        kinds = {each.media.kind for each in self._session.draft_attachments if each.media}
        missed = [kind for kind in MediaKind if senses and kind in kinds and not senses.takes(kind)]
        if not missed or not senses:
            return ""
        help_text = tr_said(senses.reason) or tr(PROJECTOR_NEEDED)
        return sentences(*(tr(_MISSED[kind]) for kind in missed), help_text)

    def _destination(self) -> str:
        """Where the files go, if that is another program."""
        host = self._session.requests.host
        return tr("Goes to {host}.", host=host) if host and self._session.draft_attachments else ""

    def _show_waiting(self) -> None:
        """Queued messages are not sent by themselves after the answer was stopped."""
        num_waiting = 0 if self._session.is_busy else len(self._session.queue)
        if not num_waiting:
            self._composer.waiting.clear()
            return
        if self._session.waits_for_model:
            self._composer.waiting.say(tr("Sent once a model is loaded."))
            return
        said = tr_n("{n} message queued.", "{n} messages queued.", num_waiting)
        self._composer.waiting.say(said, Offer(tr("Send now"), self._session.send_queued))

    def _connect(self) -> None:
        session, composer = self._session, self._composer
        composer.submitted.connect(self._on_submitted)
        composer.insert_requested.connect(self._on_insert_requested)
        composer.stop.clicked.connect(session.stop)
        composer.attach.clicked.connect(self.choose_files)
        composer.editor.files_given.connect(self.attach)
        composer.editor.picture_given.connect(self.attach_picture)
        composer.picture_opened.connect(self._on_picture_opened)
        composer.chips.saved.connect(self._on_media_saved)
        composer.chips.cancelled.connect(session.files.cancel_file)
        composer.record.clicked.connect(self._on_record_requested)
        composer.recording.stopped.connect(self._on_record_requested)
        composer.recording.discarded.connect(self._recorder.discard)
        composer.hidden.connect(self._recorder.stop)
        self._recorder.changed.connect(self._show_recording)
        self._recorder.recorded.connect(self._on_recorded)
        self._recorder.failed.connect(self._on_record_failed)
        composer.draft_changed.connect(self._on_draft_changed)
        composer.attachments_changed.connect(session.choose_attachments)
        session.changed.connect(self.show_state)
        session.draft_changed.connect(self._on_session_draft_changed)
        session.files.changed.connect(self._on_files_changed)
        session.files.refused.connect(self._on_refused)
        session.tokens.counted.connect(self.show_figures)
        self._count_timer.timeout.connect(self._count)

    @Slot()
    def _count(self) -> None:
        """Debounced: a text may be long, and keys come fast."""
        session = self._session
        self._never_computed = "" if session.is_busy else never_computed(session.chat, session.shelf)
        if session.shelf.is_searched:
            if self._finding:
                self._finding.cancel()  # for a text that has changed since
            self._finding = spawn(session.find_passages())
        session.tokens.count((*self._draft_texts(), self._never_computed))
        self.show_figures()

    @Slot(str, object)
    def _on_submitted(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        self._session.send(text, attachments)
        self.sent.emit()

    @Slot(object, str, object)
    def _on_insert_requested(self, role: Role, text: str, attachments: tuple[Attachment, ...]) -> None:
        self._session.insert(role, text, attachments)
        self.sent.emit()

    @Slot(str)
    def _on_draft_changed(self, text: str) -> None:
        self._session.draft = text
        self._count_timer.start()
        if not text:
            self.show_figures()

    @Slot()
    def _on_session_draft_changed(self) -> None:
        """A file has been read, or attachments were restored."""
        if self._session.draft_attachments != self._composer.attachments:
            self._composer.set_attachments(self._session.draft_attachments)
        self._count_timer.start()

    @Slot()
    def _on_files_changed(self) -> None:
        self._composer.set_pending(self._session.files.names)

    @Slot(int)
    def _on_picture_opened(self, number: int) -> None:
        attachments, tell = self._session.draft_attachments, self._composer.notice.add_problem
        open_media(attachments[number], attachments, self._thumbnails, self._composer, tell)

    @Slot(int)
    def _on_media_saved(self, number: int) -> None:
        attachment = self._session.draft_attachments[number]
        save_media(attachment, self._session.media, self._composer, self._composer.notice.add_problem)

    @Slot()
    def _show_recording(self) -> None:
        recorder, senses = self._recorder, self._session.requests.senses
        hears = senses is not None and senses.hears
        self._composer.show_recording(recorder.is_open, recorder.seconds, recorder.level, can_record=hears)

    @Slot()
    def _on_record_requested(self) -> None:
        if self._recorder.is_open:
            self._recorder.stop()
        elif self._has_room_for(1):
            self._recorder.start()

    @Slot(object)
    def _on_recorded(self, content: bytes) -> None:
        self.attach_bytes(content, tr("Recording"))

    @Slot(str)
    def _on_record_failed(self, why: str) -> None:
        self._composer.notice.add_problem(tr_said(why))

    @Slot(str, object)
    def _on_refused(self, name: str, reason: Reason | str) -> None:
        self._composer.notice.add_problem(refusal_text(name, reason))
