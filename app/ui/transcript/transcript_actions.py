"""Carries out the actions on turns. Knows the session and the transcript, not their widgets.

A turn may be gone when something is asked for at it: it is seen until the next drawing. GUI thread.
"""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from app.bridge.chat_session import ChatSession
from app.chats.attachment import Attachment
from app.chats.chat import Turn
from app.chats.summary import Summary
from app.look.words import tr
from app.protocol.request import Role
from app.ui.message.message_text import plain_text, written_text
from app.ui.transcript.summary_card import SummaryAction
from app.ui.transcript.transcript import Transcript
from app.ui.transcript.turn_actions import TurnAction


class TranscriptActions(QObject):
    fork_requested = Signal(object, int)  # the session, the number of turns to copy
    tokens_requested = Signal(object, object)  # the session, the Turn whose tokens to show
    lens_requested = Signal(object, object, str)  # the session, the Turn to look into, a sentence of it or ""
    selecting_requested = Signal(object)  # the Turn that is selected first
    undo_offered = Signal(str, object)  # what was done, and its undo function
    asked = Signal()  # for an answer, or the rest of one
    draft_offered = Signal(str)  # a message to be edited before it is sent
    ways_dialog_requested = Signal(str, object)  # chat id, the Turn to be answered in several ways

    def __init__(self, session: ChatSession, transcript: Transcript, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._transcript = transcript
        self._deeds = {
            TurnAction.COPY: lambda turn: _copy(written_text(turn)),
            TurnAction.COPY_PLAIN: lambda turn: _copy(plain_text(turn)),
            TurnAction.ANSWER: lambda _turn: self.answer(),
            TurnAction.REGENERATE: self.regenerate,
            TurnAction.CONTINUE: lambda _turn: self.continue_answer(),
            TurnAction.COMPARE: lambda _turn: transcript.set_comparing(True),
            TurnAction.FORK: lambda turn: self.fork_requested.emit(session, session.chat.index_of(turn) + 1),
            TurnAction.TOKENS: lambda turn: self.tokens_requested.emit(session, turn),
            TurnAction.LENS: self._look_into,
            TurnAction.SELECT: self.selecting_requested.emit,
            TurnAction.DELETE: self.delete,
        }
        transcript.acted.connect(self._on_acted)
        transcript.edited.connect(self._on_edited)
        transcript.edit_left.connect(self._on_edit_left)
        transcript.ways_requested.connect(self.answer_in_ways)
        transcript.version_requested.connect(session.show_version)
        transcript.kept.connect(self._on_kept)
        transcript.summary_acted.connect(self._on_summary_acted)
        transcript.summary_edited.connect(session.set_summary)
        session.summaries.replaced.connect(self._on_summary_replaced)
        transcript.queue.removed.connect(self._on_unqueued)
        transcript.queue.edit_requested.connect(self._on_queued_edited)

    def answer(self) -> None:
        """The last turn was inserted without asking, or its answer was deleted."""
        self._transcript.follow_end()
        self._session.answer()
        self.asked.emit()

    def regenerate(self, answer: Turn | None = None) -> None:
        self._transcript.follow_end()
        self._session.regenerate(answer)

    def continue_answer(self) -> None:
        self._transcript.follow_end()
        self._session.continue_answer()
        self.asked.emit()

    def delete(self, turn: Turn) -> None:
        removed = self._session.delete(turn)
        if removed:
            said = tr("Deleted a message.") if turn.role is Role.USER else tr("Deleted an answer.")
            self.undo_offered.emit(said, lambda: self._session.undelete(removed))

    def _look_into(self, turn: Turn) -> None:
        self.lens_requested.emit(self._session, turn, self._transcript.pointed_sentence(turn))

    @Slot(int)
    def answer_in_ways(self, num_ways: int) -> None:
        """Asks for several answers at once, shown side by side. 0: it is to be chosen in which ways."""
        if not num_ways:
            self.ways_dialog_requested.emit(self._session.chat.id, self._session.chat.turns[-1])
        elif self._session.answer_in_ways(num_ways):
            self._transcript.set_comparing(True)
            self._transcript.follow_end()

    @Slot(object, object)
    def _on_acted(self, action: TurnAction, turn: Turn) -> None:
        if self._session.chat.shows(turn):
            self._deeds[action](turn)

    @Slot(object, str, object)
    def _on_edited(self, turn: Turn, text: str, attachments: tuple[Attachment, ...]) -> None:
        if not self._session.chat.shows(turn):
            return
        if self._session.is_busy:  # it began to answer while the message was edited
            self._on_edit_left(turn, text, True)
            return
        self._session.drafts.put((self._session.chat.id, turn.id), "")
        if turn.role is Role.USER:
            self._transcript.follow_end()
            self._session.edit(turn, text, attachments)
        else:
            self._transcript.hold(turn)
            self._session.edit_answer(turn, text)

    @Slot(object, str, bool)
    def _on_edit_left(self, turn: Turn, text: str, is_kept: bool) -> None:
        """Undo opens the editor again, with what was typed."""
        if text == turn.text:
            return
        drafts, field = self._session.drafts, (self._session.chat.id, turn.id)

        def edit_again() -> None:
            drafts.put(field, text)
            if view := self._transcript.show_turn(turn):
                view.start_editing()

        drafts.put(field, text if is_kept else "")
        said = tr("The edit is kept until you go on with it.") if is_kept else tr("Discarded the edit.")
        self.undo_offered.emit(said, edit_again)

    @Slot(object, object)
    def _on_summary_acted(self, action: SummaryAction, turn: Turn) -> None:
        self._transcript.hold(turn)
        session, summary = self._session, turn.summary
        if action is SummaryAction.STOP:
            session.summaries.stop()
        elif action is SummaryAction.AGAIN:
            session.sum_up_again(turn)
        elif summary:
            session.set_summary(turn, "")
            said = tr("Removed the summary. The model reads all messages again.")
            self.undo_offered.emit(said, lambda: session.put_back_summary(turn, summary))

    @Slot(object, object)
    def _on_summary_replaced(self, turn: Turn, former: Summary) -> None:
        said = tr("The summary was written again.")
        self.undo_offered.emit(said, lambda: self._session.put_back_summary(turn, former))

    @Slot(object)
    def _on_kept(self, version: Turn) -> None:
        self._transcript.set_comparing(False)
        self._session.show_version(version)

    @Slot(int)
    def _on_unqueued(self, number: int) -> None:
        if number < len(self._session.queue):
            message = self._session.queue[number]
            self._session.unqueue(message)

    @Slot(int)
    def _on_queued_edited(self, number: int) -> None:
        if number < len(self._session.queue):
            message = self._session.queue[number]
            self._session.unqueue(message)
            if message.attachments:
                self._session.draft_attachments = (*self._session.draft_attachments, *message.attachments)
            self.draft_offered.emit(message.text)


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
