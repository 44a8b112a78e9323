"""An open chat and its requests. GUI thread.

Knows neither widgets nor the database: the workspace keeps what changes, the widgets show it.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from app.bridge.chat_limits import ChatLimits
from app.bridge.chat_requests import ChatRequests
from app.bridge.chat_shelf import ChatShelf, ShelfAccess, without_passages
from app.bridge.chat_tools import ChatTools
from app.bridge.draft_files import DraftFiles
from app.bridge.drafts import Drafts
from app.bridge.engines import ChatEngine
from app.bridge.media_files import MediaFiles
from app.bridge.running_answers import RunningAnswers
from app.bridge.summary_writer import SummaryWriter
from app.bridge.token_counter import TokenCounter
from app.bridge.tool_access import ToolAccess
from app.chats.attachment import Attachment, valid_unicode
from app.chats.chat import Chat, QueuedMessage, Removed, Turn, TurnState
from app.chats.options import ChatOptions
from app.chats.summary import Summary
from app.chats.tasks import by_hand, handed_out_by_hand, numbered
from app.chats.titles import title_from
from app.chats.tool_use import Decision, ToolUse
from app.protocol.commands import Forget
from app.protocol.output import FinishReason, Output
from app.protocol.request import Message, Overflow, Request, Role
from app.protocol.sampling import SamplingParams
from app.settings.settings import Settings
from app.system.said import said, together
from app.tools.tool import Tool

_STATE_AFTER = {
    FinishReason.STOP: TurnState.DONE,
    FinishReason.LENGTH: TurnState.DONE,
    FinishReason.ABORT: TurnState.STOPPED,
    FinishReason.ERROR: TurnState.FAILED,
}
GO_ON = "Continue."
MAX_WAYS = 8
MIN_SUMMED_UP = 4_096  # tokens of a context in which turns are summed up without being asked to


class ChatSession(QObject):
    changed = Signal()  # title, busy, turns, versions, calls or queue changed (never per token)
    grew = Signal(object)  # the answer of which a text or a call's arguments grew, and nothing else is new
    finished = Signal(object)  # the Turn that just ended
    summed_up = Signal(object)  # the Turn that has a new summary, used or not
    draft_changed = Signal()
    limits_changed = Signal()  # how long the chat may get, and what becomes of it then; its sampling
    loaded = Signal()  # its turns have come from the disk
    touched = Signal(object, object)  # to be saved: the Turns that changed, the ids of those removed

    def __init__(
        self,
        chat: Chat,
        engine: ChatEngine,
        settings: Settings,
        draft: str = "",
        parent: QObject | None = None,
        *,
        media: MediaFiles,
        save: Callable[[], Awaitable[None]],
        tools: ToolAccess | None = None,
        shelves: ShelfAccess | None = None,
        drafts: Drafts | None = None,
        draft_attachments: tuple[Attachment, ...] = (),
        is_loaded: bool = True,
        is_new: bool = False,
        leaf_id: str = "",
    ) -> None:
        """`save` returns once what was touched is on disk, or cannot be written."""
        super().__init__(parent)
        self.chat = chat
        self._engine = engine
        self._settings = settings
        self._draft = draft
        self._draft_attachments = draft_attachments
        # Its turns are here. Until then only its title, settings and draft are known.
        self.is_loaded = is_loaded
        self._kept_leaf_id = leaf_id  # the last turn that is shown, as long as it is not loaded
        self.has_tab = True  # a menu of one of its turns may outlive it
        self.is_preview = False  # it is only looked at: the next chat that is takes its tab
        self._limits = ChatLimits(chat, engine, settings)
        self.tools = ChatTools(chat, engine, settings, self._limits, tools or ToolAccess(), self)
        self.tools.cost.measured.connect(self.limits_changed)
        self.shelf = ChatShelf(chat, shelves or ShelfAccess(), self._limits)
        self.requests = ChatRequests(chat, engine, self._limits, self.tools, self.shelf)
        self.answers = RunningAnswers(
            *(chat, engine, self._limits, self.tools, self.shelf, media, save, self._request), self
        )
        self.answers.changed.connect(self._emit_changed)
        self.answers.grew.connect(self.grew)
        self.answers.ended.connect(self._on_ended)
        self.answers.task_ended.connect(self._settle)
        self.summaries = SummaryWriter(
            *(chat, engine, self._limits, self.requests, self.tools, media), parent=self
        )
        self.summaries.changed.connect(self._on_summary_changed)
        self.summaries.ended.connect(self._on_summed_up)
        self._full: Turn | None = None  # the answer that goes on once earlier turns are summed up
        self.media = media
        self.drafts = drafts or Drafts()  # of messages that are edited, and of its settings
        self.files = DraftFiles(media, self)
        self.files.read.connect(self._on_file_read)
        self.tokens = TokenCounter(engine, self)
        self.waits_for_model = False  # what is queued is sent once a model is loaded
        self._breaks_off = False  # the program ends, before its answers have
        self._first_options = ChatOptions.of(chat) if is_new else ChatOptions()
        self._held = list(chat.queue)  # waits for the user: since a stop, or an earlier run
        engine.opened.connect(self._on_model_opened)
        for given_up in (engine.load_failed, engine.load_cancelled):
            given_up.connect(self._on_load_given_up)

    @property
    def address(self) -> str:
        """Of its model."""
        return self._engine.address

    @property
    def n_ctx(self) -> int:
        """Tokens that its model has room for in one chat. 0: not known, since it was not loaded yet."""
        return self._engine.model.max_sequence_tokens if self._engine.model else 0

    @property
    def is_busy(self) -> bool:
        return bool(self.answers)

    @property
    def request_id(self) -> str | None:
        """The answer being written, if one is: of several, the first."""
        return next(iter(self.answers.request_ids), None)

    @property
    def draft(self) -> str:
        """The unsent text in the composer; saved with the chat."""
        return self._draft

    @draft.setter
    def draft(self, text: str) -> None:
        text = valid_unicode(text)
        if text != self._draft:
            if not self._draft.strip():
                self.shelf.begin_message()
            self._draft = text
            self.draft_changed.emit()

    @property
    def draft_attachments(self) -> tuple[Attachment, ...]:
        """What will go with the draft."""
        return self._draft_attachments

    @draft_attachments.setter
    def draft_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        if attachments != self._draft_attachments:
            self._draft_attachments = attachments
            self.draft_changed.emit()

    def choose_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        """As the user wants them: a passage that was taken out does not come back with the next search."""
        self.shelf.note_choice(self._draft_attachments, attachments)
        self.draft_attachments = attachments

    @property
    def enter_sends(self) -> bool:
        """Else Ctrl+Enter does."""
        return self._settings.enter_sends

    @property
    def queue(self) -> tuple[QueuedMessage, ...]:
        """Messages to send after the current answer, the next one first."""
        return tuple(self.chat.queue)

    @property
    def is_blank(self) -> bool:
        """Contains nothing worth keeping."""
        chat = self.chat
        has_draft = self._draft.strip() or self._draft_attachments or self.drafts.has_any_of(chat.id)
        is_set = ChatOptions.of(chat) != self._first_options or chat.shelf_id
        return self.is_loaded and not (chat.turns or chat.title or chat.queue or has_draft or is_set)

    @property
    def leaf_id(self) -> str:
        """The last turn that is shown, which may still be on disk."""
        return self.chat.turns[-1].id if self.chat.turns else self._kept_leaf_id

    def show_end(self, turns: list[Turn]) -> None:
        """The newest turns were loaded from disk; the others will follow."""
        if not self.is_loaded:
            self.chat.turns[:] = turns
            self.changed.emit()

    def fill(self, turns: list[Turn], asides: dict[str, list[Turn]]) -> None:
        """Its turns have come from the disk."""
        known = {turn.id: turn for turn in self.chat.turns}  # they are being shown
        self.chat.turns[:] = [known.get(turn.id, turn) for turn in turns]
        self._kept_leaf_id = ""
        self.chat.asides.update(asides)
        self.is_loaded = True
        self.loaded.emit()
        self.changed.emit()
        self._send_next()

    def context_limit(self, n_ctx: int) -> int:
        """How many tokens this chat can have, where the context has room for `n_ctx`."""
        return self._limits.context(n_ctx)

    def set_limits(self, overflow: Overflow, max_context_tokens: int) -> None:
        """From the next message on. `max_context_tokens` 0 means as the settings say."""
        self.chat.overflow, self.chat.max_context_tokens = overflow, max_context_tokens
        self.emit_settings_changed()

    def emit_settings_changed(self) -> None:
        """The chat's title, system prompt, sampling or limits were changed."""
        self.touched.emit((), ())
        self.limits_changed.emit()

    def place(
        self, *, title: str | None = None, folder: str | None = None, is_pinned: bool | None = None
    ) -> None:
        """Renames, moves or pins the chat in the list of all chats; None leaves it as it is."""
        if title is not None:
            self.chat.title = valid_unicode(title)
        if folder is not None:
            self.chat.folder = folder
        if is_pinned is not None:
            self.chat.is_pinned = is_pinned
        self._emit_changed()

    def suggest_title(self, title: str) -> None:
        """Replaces a title made from the first message, never one that the user gave."""
        self.chat.auto_title = valid_unicode(title)
        self._emit_changed()

    def rename(self, title: str) -> None:
        self.place(title=title)

    @property
    def _is_fixed(self) -> bool:
        """Turns cannot be edited now."""
        return self.is_busy or not self.is_loaded or not self.has_tab

    def _can_ask_for(self, answer: Turn) -> bool:
        """Not where the question was deleted, and nothing else stands before it."""
        return not self._is_fixed and self.chat.has_messages_before(answer)

    # Saying something

    def send(self, text: str, attachments: Iterable[Attachment] = ()) -> None:
        """Appends the user's turn and an empty answer, and asks for it; while busy it waits in the queue."""
        message = QueuedMessage(valid_unicode(text), tuple(attachments))
        if not message.text.strip() and not message.attachments:
            return
        self.chat.queue.append(message)
        if not self._send_next():
            self._emit_changed()

    def send_queued(self) -> bool:
        """Sends the whole queue, one after the other. False: it did nothing, and told nobody."""
        self._held = []
        return self._send_next()

    def _send_next(self) -> bool:
        """The next message of the queue that is not held, if the chat is free, once there is a model."""
        message = next((one for one in self.chat.queue if not any(one is held for held in self._held)), None)
        if self.is_busy or self._goes_on_later or not self.is_loaded or message is None:
            return False
        self.waits_for_model = not self._engine.takes_requests
        if self.waits_for_model:
            self._engine.want()
            self._emit_changed()
            return True
        self.chat.queue = [one for one in self.chat.queue if one is not message]
        attachments = self.shelf.numbered_on(message.attachments)
        self._append(Turn(Role.USER, message.text, attachments=attachments))
        self._answer()
        return True

    @Slot()
    def _on_model_opened(self) -> None:
        if self.waits_for_model:
            self._send_next()

    @Slot()
    def _on_load_given_up(self) -> None:
        """The chat has its former model again: what waits was meant for another, so the user decides."""
        if self.waits_for_model and self._engine.takes_requests:
            self.waits_for_model = False
            self._held = list(self.chat.queue)
            self._emit_changed()

    def unqueue(self, message: QueuedMessage) -> None:
        """It is not sent after all."""
        self.chat.queue = [each for each in self.chat.queue if each is not message]
        self._emit_changed()

    def insert(self, role: Role, text: str, attachments: Iterable[Attachment] = ()) -> None:
        """Appends a message of the user's, or an answer written by the user, without asking anything."""
        attached = tuple(attachments)
        if self._is_fixed or not (text.strip() or attached):
            return
        turn = self._append(Turn(role, valid_unicode(text), attachments=attached))
        self._emit_changed(turn)

    def answer(self) -> None:
        """Asks for an answer to the last turn, if that is a user message."""
        if not self._is_fixed and self.chat.turns and self.chat.turns[-1].role is Role.USER:
            self._answer()

    def choose_model(self, address: str) -> None:
        """It answers from now on. An answer that is being written goes on as it is."""
        self.chat.model_path = address
        self.emit_settings_changed()
        self._on_model_opened()  # it may be loaded for another chat

    @property
    def overflow(self) -> Overflow:
        """What becomes of it once it is full: it stops where turns are not summed up unasked."""
        overflow = self.chat.overflow
        return Overflow.STOP if overflow is Overflow.SUM_UP and not self._sums_up_unasked else overflow

    @property
    def is_full(self) -> bool:
        """Its last answer found no room, and does not go on by itself."""
        return bool(self.chat.turns) and self.chat.turns[-1].overflowed and not self._goes_on_later

    @property
    def _goes_on_later(self) -> bool:
        """Its last answer does, once earlier turns are summed up."""
        return self._full is not None and self.summaries.is_busy

    @property
    def way_on(self) -> Overflow | None:
        """What is offered where the chat is full. None: it does already what it can."""
        chat = self.chat
        if chat.overflow.leaves_out or not chat.turns:
            return None
        if self._turn_before_full() is not None:
            return Overflow.SUM_UP
        never_began = chat.turns[-1].state is TurnState.FAILED
        return Overflow.TRUNCATE_MIDDLE if never_began else Overflow.ROLLING_WINDOW

    def keep_going(self) -> None:
        """The chat was full: from now on, sum up or leave out what does not fit, and finish the last answer.

        Its oldest turns are left out; or the middle of all, if even the last message alone did not fit.
        """
        way_on = self.way_on
        if self._is_fixed or way_on is None:
            return
        self.set_limits(way_on, self.chat.max_context_tokens)
        last = self.chat.turns[-1]
        if way_on is Overflow.SUM_UP:
            self._sum_up_to_go_on(last)
        elif last.text:
            self.send(GO_ON)
        elif self._can_ask_for(last):
            self.answers.ask(last)

    def go_on(self, answer_start: str | tuple[int, ...]) -> None:
        """Asks for the rest of the last answer. `answer_start` is its beginning, as text or tokens."""
        if self._can_ask_for(self.chat.turns[-1]):
            self.answers.ask(self.chat.turns[-1], answer_start)

    def continue_answer(self) -> None:
        """Continues the last answer, which ended early, also before its first word."""
        last = self.chat.turns[-1] if self.chat.turns else None
        if last is None or last.role is not Role.ASSISTANT or not self._can_ask_for(last):
            return
        if not last.text and last.rounds and not last.rounds[-1].is_whole:  # it was stopped in a call
            last.text = last.rounds.pop().text
        self.answers.ask(last, last.text)

    def resume(self) -> None:
        """Goes on with the last answer, if that was cut off."""
        if self.chat.turns and self.chat.turns[-1].state is TurnState.STOPPED:
            self.continue_answer()

    # Versions: an edited or regenerated turn keeps its former text as another version

    def regenerate(self, answer: Turn | None = None) -> None:
        """Asks once more for `answer`, or for the last one."""
        turns = self.chat.turns
        answer = answer or next((turn for turn in reversed(turns) if turn.role is Role.ASSISTANT), None)
        if answer is None or not self._can_ask_for(answer):
            return
        self.chat.put_aside(self.chat.index_of(answer))
        if tasks := handed_out_by_hand(answer):
            self.answers.ask(self._append(by_hand(tasks)), is_by_hand=True)
        else:
            self._answer()

    def answer_in_ways(self, num_ways: int) -> tuple[Turn, ...]:
        """Asks for several more answers to the last message at once; the first of them is shown.

        They share the cells of all that stands before. Returns them; none if busy or there is nothing to ask.
        """
        return self._ask_in_ways([(None, "")] * num_ways)

    def answer_with(self, ways: Iterable[tuple[ChatOptions | None, str]], at: Turn) -> tuple[Turn, ...]:
        """The same at any turn: after a message, or in the place of an answer. Each with its own options.

        None for those of the chat. What an answer was asked with is part of what answered it.
        """
        if self._is_fixed or not any(known is at for known in self.chat.all_turns()):
            return ()
        self.chat.show_version(at)
        if not self.chat.has_messages_before(at) and at.role is Role.ASSISTANT:
            self._emit_changed()
            return ()
        self.chat.put_aside(self.chat.index_of(at) + 1)
        return self._ask_in_ways(list(ways))

    def _ask_in_ways(self, ways: list[tuple[ChatOptions | None, str]]) -> tuple[Turn, ...]:
        turns = self.chat.turns
        if self._is_fixed or not turns or not ways:
            return ()
        if turns[-1].role is Role.ASSISTANT:
            if not self._can_ask_for(turns[-1]):
                return ()
            self.chat.put_aside(len(turns) - 1)
        ways = ways[:MAX_WAYS]
        answers = [Turn(Role.ASSISTANT, "") for _ in ways]
        self.chat.add(answers[0])
        for answer in answers[1:]:
            answer.parent_id = answers[0].parent_id
            self.chat.add_aside(answer)
        for number, (answer, (options, name)) in enumerate(zip(answers, ways, strict=True)):
            self.answers.ask(answer, way_number=number, options=options, way_name=name)
        return tuple(answers)

    @property
    def can_hand_out(self) -> bool:
        return not self._is_fixed and not self.chat.is_notebook and self._engine.takes_requests

    def hand_out(self, tasks: Sequence[str]) -> None:
        """Says that these tasks are to be worked on at the same time, each in a fork, and then summed up."""
        if not tasks or not self.can_hand_out:
            return
        self._append(Turn(Role.USER, numbered(tasks)))
        self.answers.ask(self._append(by_hand(tasks)), is_by_hand=True)

    def edit(self, message: Turn, text: str, attachments: Iterable[Attachment] | None = None) -> None:
        """Replaces a user message by a new version with this text, and asks for an answer to it."""
        wanted = message.attachments if attachments is None else tuple(attachments)
        self.shelf.note_choice(message.attachments, wanted)
        kept = wanted if text == message.text else without_passages(wanted)
        if self._is_fixed or not (text.strip() or kept):
            return
        self.chat.put_aside(self.chat.index_of(message))
        self._append(Turn(Role.USER, valid_unicode(text), attachments=kept))
        self._answer()

    def edit_answer(self, answer: Turn, text: str) -> None:
        """Makes another version of an answer, with this text, and shows that. Asks nothing."""
        if self._is_fixed:
            return
        self.chat.put_aside(self.chat.index_of(answer))
        notice = said("You edited this answer.")
        edited = Turn(
            answer.role, valid_unicode(text), notice=notice, model=answer.model, rounds=answer.whole_rounds
        )
        self._emit_changed(self._append(edited))

    def show_version(self, turn: Turn) -> None:
        """Shows another version, if it is still there, and what was said after it."""
        if not self._is_fixed and any(known is turn for known in self.chat.all_turns()):
            self.chat.show_version(turn)
            self._emit_changed()

    def delete(self, turn: Turn) -> Removed | None:
        """Takes a turn out of the chat; None if busy. Hand what comes back to `undelete` to undo it."""
        if self._is_fixed:
            return None
        removed = self.chat.remove(turn)
        self.touched.emit(removed.moved_up, tuple(gone.id for gone in removed.turns))
        self.changed.emit()
        return removed

    def undelete(self, removed: Removed) -> None:
        if not self._is_fixed:
            self.chat.restore(removed)
            self._emit_changed(*removed.turns, *removed.moved_up)

    # Summaries of its earlier turns

    @property
    def can_sum_up(self) -> bool:
        return self._can_be_summed_up and self.summaries.has_new

    def sum_up(self) -> None:
        """Has all that was said summed up, while the chat can go on."""
        if self._can_be_summed_up and (turn := self.summaries.turn_for(self.chat.turns)):
            self.summaries.write(turn)

    def sum_up_again(self, turn: Turn) -> None:
        """Has another summary written in the place of that of `turn`."""
        if self._can_be_summed_up and self.chat.shows(turn):
            self.summaries.stop()
            self._full = self._held_up_by(turn)
            self.summaries.write(turn, is_again=True)

    def set_summary(self, turn: Turn, text: str) -> None:
        """As the user wants it, whatever was wrong with it. Empty: none, and all turns are read again."""
        before, text = turn.summary, valid_unicode(text).strip()
        if self.summaries.turn is turn or before is None or not self.is_loaded:
            return
        full = self._held_up_by(turn) if text else None
        num_tokens = before.num_tokens if text == before.text.strip() else 0  # not known any more
        changed = replace(before, text=text, notice="", num_tokens=num_tokens, created_at=time.time())
        turn.summary = changed if text else None
        self._emit_changed(turn)
        self._go_on_after(turn, full)

    def put_back_summary(self, turn: Turn, summary: Summary) -> None:
        """Undoes its removal, or that another one was written."""
        if self.summaries.turn is not turn and self.chat.shows(turn):
            turn.summary = summary
            self._emit_changed(turn)

    @property
    def _can_be_summed_up(self) -> bool:
        model = self._engine.model
        has_template = model is not None and model.has_template and self._engine.takes_requests
        return has_template and self.is_loaded and self.has_tab and not self.chat.is_notebook

    @property
    def _sums_up_unasked(self) -> bool:
        """Not on a server of another program, which may want money for each token."""
        model, is_wanted = self._engine.model, self.chat.overflow is Overflow.SUM_UP
        has_room = self._limits.room >= MIN_SUMMED_UP and model is not None and not model.is_foreign
        return is_wanted and has_room and self._can_be_summed_up

    def _sum_up_if_nearly_full(self, answer: Turn) -> None:
        usage, turns, num_summed_up = answer.usage, self.chat.turns, self.chat.num_summed_up()
        num_used = usage.num_prompt_tokens + usage.num_generated_tokens
        if num_used < self._limits.room * self._settings.sum_up_at // 100 or self.summaries.is_busy:
            return
        if any(turn.summary for turn in turns[num_summed_up:]):  # it could not be used: once is enough
            return
        is_as_long = usage.num_summed_up == num_summed_up  # else its prompt was longer than the next will be
        if is_as_long and self._sums_up_unasked and turns[-1] is answer:
            self.sum_up()

    def _turn_before_full(self) -> Turn | None:
        """Up to which there is something to sum up, before the message whose answer found no room.

        None, too, where that was tried in vain: the user may have it written again, or something left out.
        """
        turn = self.summaries.turn_for(self.chat.turns[:-2]) if self._can_be_summed_up else None
        return None if turn and turn.summary and turn.summary.notice else turn

    def _sum_up_to_go_on(self, answer: Turn) -> bool:
        """The last answer goes on then. False: there is nothing to sum up."""
        turn = self._turn_before_full()
        if turn is None or answer is not self.chat.turns[-1]:
            return False
        self._full = answer
        if not self.summaries.is_busy:
            self.summaries.write(turn)
        return True

    def _held_up_by(self, turn: Turn) -> Turn | None:
        """The last answer, if it found no room since the summary of an earlier turn could not be used."""
        is_unused = turn.summary is not None and turn.summary.notice and self.chat.turns[-1] is not turn
        is_held_up = is_unused and self.is_full and self.chat.overflow is Overflow.SUM_UP
        return self.chat.turns[-1] if is_held_up else None

    @Slot()
    def _on_summary_changed(self) -> None:
        if self._full and not self.summaries.is_busy:  # it was given up
            self._full, self._held = None, list(self.chat.queue)
        self.changed.emit()

    @Slot(object)
    def _on_summed_up(self, turn: Turn) -> None:
        full, self._full = self._full, None
        self._emit_changed(turn)
        self.summed_up.emit(turn)
        self._go_on_after(turn, full)

    def _go_on_after(self, turn: Turn, full: Turn | None) -> None:
        """The answer that was `full`, if there is one and the turn has a summary that makes room."""
        if full is None:
            return
        if full is self.chat.turns[-1] and turn.used_summary and self._can_ask_for(full):
            self.continue_answer()
            return
        self._held = list(self.chat.queue)
        why = turn.summary.notice if turn.summary else ""
        full.notice = full.notice if why in full.notice else together(full.notice, why)
        self._emit_changed(full)

    # Tools

    def set_tools(self, keys: Iterable[str]) -> None:
        """From the next message on."""
        self.chat.tools = tuple(keys)
        self.emit_settings_changed()

    def decide(self, use: ToolUse, decision: Decision) -> None:
        """On a call that asks. Nothing where it was stopped meanwhile."""
        self.tools.permits.decide(use, decision)

    # Its shelf

    def set_shelf(self, shelf_id: str) -> None:
        """From the next message on. Empty: none."""
        self.chat.shelf_id = shelf_id
        self.draft_attachments = without_passages(self.draft_attachments)
        self.emit_settings_changed()

    async def find_passages(self) -> None:
        """For the draft, so that they are seen before it is sent."""
        text = self._draft
        found = await self.shelf.found_for(text) if self.is_loaded else ()
        if isValid(self) and text == self._draft:
            self.draft_attachments = (*without_passages(self.draft_attachments), *found)

    # The engine

    def reading_of(self, answer: Turn) -> Request | None:
        """Has this answer computed again, with what stands before it, if anything does. Makes no token."""
        if not self.chat.has_messages_before(answer):
            return None
        before = (*self.chat.messages(self.chat.index_of(answer)), *answer.round_messages)
        return replace(self._request(before, answer.text), max_tokens=0)

    def reading_ahead(self) -> Request | None:
        """The next turn as far as it is typed. None while nobody can say what it will follow."""
        if self._is_fixed or self.queue or self.chat.overflow.leaves_out:
            return None
        draft = Turn(Role.USER, self._draft, attachments=self.draft_attachments)
        messages = (*self.chat.messages(), *(draft.messages or (Message(Role.USER, ""),)))
        return replace(self._request(messages, ""), max_tokens=0, sampling=SamplingParams())

    def apply(self, *outputs: Output) -> None:
        """Takes what the engine made, of one request."""
        self.answers.apply(*outputs)
        self.summaries.apply(*outputs)

    def stop_task(self, turn: Turn) -> None:
        """One of those that an answer has handed out. The others go on."""
        self.answers.stop(turn)

    def stop(self) -> None:
        """Aborts the answers. They end through the engine's reports, with the text they have so far."""
        if self.answers:
            self.answers.stop()
        else:
            self.summaries.stop()

    def close(self) -> None:
        """Frees its cells; ends the open answers at once, without waiting for their last outputs."""
        self.files.cancel()
        self.tokens.count(())
        self.answers.close()
        self.summaries.stop()
        self._engine.post(Forget(self.chat.id))

    def break_off(self) -> None:
        """Ends the open answers at once, and leaves them as being written: the next start finds them so."""
        self._breaks_off = True
        self.answers.close()

    @Slot(object, object)
    def _on_ended(self, answer: Turn, last: Output) -> None:
        self._settle(answer, last)
        self.finished.emit(answer)
        if answer.overflowed and self._sums_up_unasked and self._sum_up_to_go_on(answer):
            return
        if answer.overflowed or not last.found_no_room:  # else there is nothing that a summary would help
            self._sum_up_if_nearly_full(answer)
        if answer.state is not TurnState.DONE:
            self._held = list(self.chat.queue)
        else:
            self._send_next()

    @Slot(object, object)
    def _settle(self, answer: Turn, last: Output) -> None:
        """The end of an answer, or of a task that it had handed out."""
        reason = last.finish_reason
        assert reason
        is_cut = self._breaks_off and reason is FinishReason.ABORT
        answer.state = TurnState.STREAMING if is_cut else _STATE_AFTER[reason]
        cut = self._cut_notice() if reason is FinishReason.LENGTH else ""
        no_room = self.requests.too_large_before(last.usage.num_prompt_tokens) if last.found_no_room else ""
        answer.notice = no_room or last.notice or cut or answer.notice  # which is known from the start
        answer.overflowed = last.found_no_room and not no_room and not self.chat.overflow.leaves_out
        answer.model = answer.model or (self._engine.model.title if self._engine.model else "")
        self._emit_changed(answer)

    def _cut_notice(self) -> str:
        """The engine gives no notice for a limit that the request set."""
        limit = self._limits.answer
        return said("The answer was cut off at its limit of {limit:,} tokens.", limit=limit) if limit else ""

    def _append(self, turn: Turn) -> Turn:
        self.chat.add(turn)
        if turn.role is Role.USER and not self.chat.auto_title and self._settings.automatic_titles:
            files = (attachment.name for attachment in turn.attachments)
            self.chat.auto_title = title_from(turn.text) or next(files, "")
        self.touched.emit((turn,), ())
        return turn

    def _answer(self) -> None:
        """To the last turn."""
        self.answers.ask(self._append(Turn(Role.ASSISTANT, "")))

    @Slot(object)
    def _on_file_read(self, attachment: Attachment) -> None:
        self.draft_attachments = (*self._draft_attachments, attachment)

    @Slot(object)
    def _emit_changed(self, *turns: Turn) -> None:
        self.touched.emit(turns, ())
        self.changed.emit()

    def _request(
        self,
        messages: tuple[Message, ...],
        answer_start: str | tuple[int, ...],
        tools: Iterable[Tool] | None = None,
    ) -> Request:
        return self.requests.make(messages, answer_start, tools)
