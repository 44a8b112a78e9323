"""Handles the inspector's queries, and its commands on single chats.

Reads the state of others, and changes it only through `SlotPool`. Engine thread only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.engine.cells.ledger import check_cells
from app.protocol.commands import (
    CheckCells,
    ClearCells,
    DescribeTokens,
    EraseSlot,
    FillSlot,
    Hibernate,
    NoteTool,
    Pin,
    Restore,
    SaveSlot,
    SlotCommand,
    Tokenize,
    TokensOf,
)
from app.protocol.errors import InvalidRequestError, PositionMismatchError
from app.protocol.events import Disagreed, Verified
from app.protocol.report import Answer, CellCheck, ChatTokens, Lease, SlotAnswer, TokenizedText, TokenTexts

if TYPE_CHECKING:
    from app.engine.backend import Backend
    from app.engine.batching.scheduler import Scheduler
    from app.engine.cells.slots import SlotPool
    from app.engine.prompts.prompt_builder import PromptBuilder

InspectionCommand = (
    Hibernate
    | Restore
    | ClearCells
    | Pin
    | NoteTool
    | TokensOf
    | SlotCommand
    | CheckCells
    | DescribeTokens
    | Tokenize
)


class Inspection:
    """Results wait here for the next report; `last_check` is in every later one."""

    def __init__(
        self,
        backend: Backend,
        prompts: PromptBuilder,
        slots: SlotPool,
        scheduler: Scheduler,
        *,
        checks_each_step: bool,
    ) -> None:
        """With `checks_each_step`, a check logs an event only if it finds a mismatch, which ends the engine.

        Without, cells in another order than ours are only reported, since the answers are right.
        """
        self._backend = backend
        self._prompts = prompts
        self._slots = slots
        self._scheduler = scheduler
        self._checks_each_step = checks_each_step
        self._answers: list[Answer] = []
        self.last_check: CellCheck | None = None

    def obey(self, command: InspectionCommand, step: int) -> None:
        """Raises PositionMismatchError if the library turns out to hold other cells."""
        match command:
            case Hibernate(chat_id):
                self._slots.hibernate_chat(chat_id)
            case Restore(chat_id):
                self._slots.restore_chat(chat_id)
            case ClearCells(chat_id):
                self._slots.clear_chat(chat_id)
            case Pin(chat_id, is_pinned):
                self._slots.pin(chat_id, is_pinned)
            case NoteTool(chat_id, tool, seconds):
                self._slots.note_tool(chat_id, tool, seconds)
            case CheckCells():
                self._answers.append(self._check(step))
                self._raise_disagreement()
            case DescribeTokens(token_ids):
                self._answers.append(self._texts_of(token_ids))
            case Tokenize(text):
                tokens = self._texts_of(tuple(self._prompts.tokens_behind(text)))
                self._answers.append(TokenizedText(text, tokens))
            case TokensOf(chat_id):
                self._answers.append(self._tokens_of(chat_id))
            case SaveSlot() | FillSlot() | EraseSlot():
                self._answers.append(self._obey_about_slot(command))

    def take_answers(self) -> tuple[Answer, ...]:
        answers, self._answers = tuple(self._answers), []
        return answers

    def describe(self, leases: Iterable[Lease]) -> None:
        """Their tokens, unasked: an answer would have to wait for the next step, which may take seconds."""
        told = dict.fromkeys(token for one in leases for token in (*one.common, *one.held, *one.wanted))
        if told:
            self._answers.append(self._texts_of(tuple(told)))

    def take_answer(self, answer: Answer) -> None:
        self._answers.append(answer)

    def verify(self, step: int) -> None:
        """Compare positions and holders of every cell with the library. Raises PositionMismatchError."""
        self._check(step)
        self._raise_disagreement()

    def note_disagreement(self, error: PositionMismatchError, step: int) -> None:
        """Keep the evidence of a mismatch found during a step."""
        if self.last_check is None or self.last_check.agrees or self.last_check.is_order_only:
            self._note_check(CellCheck(step, self._slots.cells.num_used, str(error)))

    def _obey_about_slot(self, command: SlotCommand) -> SlotAnswer:
        try:
            match command:
                case SaveSlot(query_id, seq_id):
                    saved = self._slots.saved_slot(seq_id)
                    return SlotAnswer(query_id, len(saved.token_ids), saved)
                case FillSlot(query_id, seq_id, saved):
                    self._slots.fill_slot(seq_id, query_id, saved)
                    return SlotAnswer(query_id, len(saved.token_ids))
                case EraseSlot(query_id, seq_id):
                    return SlotAnswer(query_id, self._slots.erase_slot(seq_id))
        except InvalidRequestError as error:
            return SlotAnswer(command.query_id, refusal=str(error))

    # All cells.

    def _check(self, step: int) -> CellCheck:
        try:
            self._slots.memory.verify()
        except PositionMismatchError as error:
            check = CellCheck(step, self._slots.cells.num_used, str(error))
        else:
            check = check_cells(self._backend, self._slots.cells, step)
        self._note_check(check)
        return check

    def _note_check(self, check: CellCheck) -> None:
        if not check.agrees:
            self._slots.event_log.add(Disagreed(None, None, check.difference))
        elif not self._checks_each_step:
            num_cells = check.num_cells if check.can_compare else None
            self._slots.event_log.add(Verified(None, None, num_cells))
        self._slots.memory.has_unchecked_changes = False
        self.last_check = check

    def _raise_disagreement(self) -> None:
        check = self.last_check
        if check and not check.agrees and (self._checks_each_step or not check.is_order_only):
            raise PositionMismatchError(check.difference)

    # Tokens.

    def _tokens_of(self, chat_id: str) -> ChatTokens:
        seq = next((seq for seq in self._scheduler.sequences if seq.request.chat_id == chat_id), None)
        if seq:
            token_ids, sampling = seq.token_ids, seq.request.sampling
            num_prompt_tokens = seq.num_prompt_tokens - seq.num_start_tokens
        elif last := self._slots.last_turn_of(chat_id):
            token_ids, last_turn = last
            num_prompt_tokens, sampling = last_turn.num_prompt_tokens, last_turn.request.sampling
        else:
            return ChatTokens(chat_id)
        pieces = tuple(map(self._backend.token_piece, token_ids[num_prompt_tokens:]))
        return ChatTokens(chat_id, tuple(token_ids), num_prompt_tokens, pieces, sampling)

    def _texts_of(self, token_ids: tuple[int, ...]) -> TokenTexts:
        return TokenTexts(token_ids, tuple(map(self._text_of, token_ids)))

    def _text_of(self, token_id: int) -> bytes:
        """Empty for ids outside the vocabulary: they may be of a former model."""
        n_vocab = self._backend.model.n_vocab
        return self._backend.written_piece(token_id) if 0 <= token_id < n_vocab else b""
