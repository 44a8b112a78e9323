"""An answer as tokens: finds them, and the alternatives at each place.

Nothing is recorded for it while answers are written: alternatives are computed on demand, from the cells that
are there. Knows no widget. GUI thread.
"""

import codecs
import math
import uuid
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.inspector.chat_names import PROBE_ID, READING_ID
from app.inspector.recording import Recording
from app.look.figures import count, decimal, tokens
from app.look.words import mark, sentences, tr
from app.protocol.commands import ClearCells, DescribeTokens, Restore, TokensOf
from app.protocol.output import FinishReason, Output, SampledToken, TokenLogprob, Usage
from app.protocol.report import ChatTokens, SlotSnapshot
from app.protocol.request import MAX_LOGPROBS, Request

GONE = mark(
    "The engine no longer holds this answer's tokens. It can be recomputed from the text, which may "
    "tokenize differently from what was sampled."
)
OLDER = mark(
    "The engine keeps the sampled tokens of a chat's newest answer only. This one can be recomputed from "
    "its text, which may tokenize differently from what was sampled."
)
NO_TEXT = mark("The engine no longer holds this answer's tokens, and no open tab has its text.")
ASKING = mark("Fetching this answer's tokens…")
READING = mark("Recomputing the answer…")
STOPPED = mark("It was stopped.")
NO_TOKENS = ChatTokens("")


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """An answer of the window, to be inspected.

    `turn` is the window's handle for it, `text` its shown text. `reading`, if there is one, recomputes the
    answer in a chat of its own. The engine knows the exact tokens of the newest answer only.
    """

    chat_id: str
    title: str
    text: str = ""
    turn: object = None
    reading: Request | None = None
    is_newest: bool = True


@dataclass(frozen=True, slots=True)
class TokenCandidates:
    """The candidates at one place of an answer, and the cost of computing them."""

    sampled: SampledToken
    usage: Usage


def text_of(pieces: tuple[bytes, ...]) -> str:
    """The text as in the chat: without an incomplete character at the end."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(b"".join(pieces))


def belongs_to(tokens: ChatTokens, source: AnswerSource) -> bool:
    """Whether these are the tokens of this answer: another may have been requested since."""
    return bool(tokens.token_ids) and text_of(tokens.pieces).startswith(source.text)


def probe(tokens: ChatTokens, place: int, chat_id: str) -> Request:
    """A request for the candidates at this place of the answer. Shares cells that are held."""
    start = tokens.num_prompt_tokens
    return Request(
        request_id=uuid.uuid4().hex,
        chat_id=chat_id,
        prompt=tokens.token_ids[:start],
        answer_start=tokens.token_ids[start : start + place],
        sampling=tokens.sampling,
        max_tokens=1,
        keep_cells=False,
        num_logprobs=MAX_LOGPROBS,
    )


def start_with(tokens: ChatTokens, place: int, chosen: TokenLogprob) -> tuple[str, tuple[int, ...]]:
    """The answer up to this place plus `chosen`, as text and tokens."""
    start = tokens.num_prompt_tokens
    token_ids = (*tokens.token_ids[start : start + place], chosen.token_id)
    return text_of((*tokens.pieces[:place], chosen.text)), token_ids


def chance(probability: float) -> str:
    """Never rounded to 0% or 100%."""
    share = 100 * probability
    if share >= 99.95:
        return "100%" if probability >= 1 else f">{decimal(99.9, 1)}%"
    if share >= 0.1:
        return f"{decimal(share, 1)}%"
    return f"{decimal(share, 3)}%" if share >= 0.001 else f"<{decimal(0.001, 3)}%"


def result_text(found: TokenCandidates, chosen_id: int | None) -> str:
    """The token at the place, its probability, and the cost of computing it."""
    return sentences(_chosen_text(found.sampled, chosen_id), _cost_text(found.usage))


def _chosen_text(sampled: SampledToken, chosen_id: int | None) -> str:
    if chosen_id is None:
        return ""
    for rank, one in enumerate(sampled.likeliest, start=1):
        if one.token_id == chosen_id:
            before = chance(math.exp(one.logprob))
            if not one.probability:
                return tr(
                    "Chosen: rank {rank}, {before} before the samplers, ruled out after.",
                    rank=rank,
                    before=before,
                )
            return tr(
                "Chosen: rank {rank}, {before} before and {after} after the samplers.",
                rank=rank,
                before=before,
                after=chance(one.probability),
            )
    return tr("The chosen token is not among the {number} most likely.", number=len(sampled.likeliest))


def _cost_text(usage: Usage) -> str:
    return tr(
        "Cost of this lookup: {computed} computed, {shared} shared.",
        computed=tokens(usage.num_computed_tokens),
        shared=count(usage.num_cached_tokens),
    )


class AnswerFinder(QObject):
    """One answer at a time. `read_on` takes new reports from the recording."""

    answer_found = Signal()  # its tokens are known
    answer_grown = Signal()  # it has more tokens
    commanded = Signal(object)  # Command
    requested = Signal(object)  # Request
    aborted = Signal(str)  # request_id

    def __init__(self, recording: Recording, parent: QObject) -> None:
        super().__init__(parent)
        self._reading_id = f"{READING_ID}{uuid.uuid4().hex}"  # of an answer that is being recomputed
        self.source: AnswerSource | None = None
        self.tokens = NO_TOKENS
        self.known: dict[int, TokenCandidates] = {}  # by place in the answer
        self.refusals: dict[int, str] = {}  # why not, by place in the answer
        self.message = ""  # why there are no tokens
        self._open: Request | None = None
        self._place: int | None = None  # that is looked at
        self._asked_at: object = None  # the answer's progress when its tokens were requested
        self._is_restoring = False  # the chat's cells
        self._has_read = False  # whether `_reading_id` may hold cells
        self.clear(recording)

    def clear(self, recording: Recording) -> None:
        """Reset for another recording or model."""
        self._recording = recording
        self._num_seen = recording.num_seen
        self._answer_seen = recording.chat_tokens
        self.source = None
        self._forget()

    @property
    def is_paused(self) -> bool:
        newest = self._recording.newest
        return newest is not None and newest.pause is not None

    @property
    def is_reading(self) -> bool:
        """The answer itself is being recomputed."""
        return self._open is not None and self._open.chat_id == self._reading_id

    @property
    def can_read(self) -> bool:
        """There is a text to recompute, and that has not started."""
        has_text = self.source is not None and self.source.reading is not None
        return has_text and not self.tokens.token_ids and self._open is None and self.message != ASKING

    def show(self, source: AnswerSource) -> None:
        is_same = self.source is not None and source.turn is not None and source.turn is self.source.turn
        if is_same and belongs_to(self.tokens, source):
            return
        self.abort()
        if self._has_read:
            self.commanded.emit(ClearCells(self._reading_id))
        self._has_read = False
        self._forget()
        self.source = source
        if source.is_newest:
            self.message = ASKING
            self._ask_for_tokens()
        else:
            self.message = OLDER

    def read_again(self) -> None:
        if self.source and self.source.reading:
            self.message, self._has_read = READING, True
            self._submit(replace(self.source.reading, chat_id=self._reading_id))

    def look_at(self, place: int | None) -> None:
        """Find the alternatives at this place; None: cancel."""
        self._place, self._is_restoring = place, False
        if self._open and not self.is_reading:
            self.abort()
        self._look()

    def come_back(self) -> None:
        """The panel is visible again. Nothing was requested meanwhile, so the reports since do not matter."""
        self._num_seen = self._recording.num_seen

    def read_on(self) -> None:
        for report in self._recording.new_since(self._num_seen):
            for output in report.outputs:
                self._on_output(output)
        self._num_seen = self._recording.num_seen
        answer = self._recording.chat_tokens
        if answer is not None and answer is not self._answer_seen:
            self._answer_seen = answer
            self._take_tokens(answer)
        self._follow()
        self._look()

    # The tokens of the answer.

    def _ask_for_tokens(self) -> None:
        assert self.source is not None
        self._asked_at = self._how_far()
        self.commanded.emit(TokensOf(self.source.chat_id))

    def _take_tokens(self, answer: ChatTokens) -> None:
        source = self.source
        if source is None or answer.chat_id not in (source.chat_id, self._reading_id):
            return
        if belongs_to(answer, source):
            self._take(answer)
        elif not self.tokens.token_ids:
            self._lose_tokens()

    def _take(self, answer: ChatTokens) -> None:
        is_first = not self.tokens.token_ids
        self.tokens, self.message = answer, ""
        (self.answer_found if is_first else self.answer_grown).emit()
        self._ask_for_names()

    def _follow(self) -> None:
        """An answer that ends or is paused may have more tokens than before, or its first ones."""
        if self.source is None or not self.source.is_newest or self.is_reading:
            return
        if self.tokens.chat_id in ("", self.source.chat_id) and self._how_far() != self._asked_at:
            self._ask_for_tokens()

    def _how_far(self) -> object:
        """Changes when a paused answer has another token; a running one is not queried all the time."""
        slot = self._slot_of(self.source.chat_id) if self.source else None
        if slot is None or (slot.is_running and not self.is_paused):
            return self._asked_at
        return slot.request_id, slot.usage.num_generated_tokens

    def _slot_of(self, chat_id: str) -> SlotSnapshot | None:
        slots = self._recording.newest.slots if self._recording.newest else ()
        return next((slot for slot in slots if slot.chat_id == chat_id), None)

    def _ask_for_names(self) -> None:
        """Request the names of control tokens, which have no text."""
        ids = zip(self.tokens.token_ids[self.tokens.num_prompt_tokens :], self.tokens.pieces, strict=True)
        unnamed = (token_id for token_id, piece in ids if not piece)
        if unknown := self._recording.unknown_tokens(unnamed):
            self.commanded.emit(DescribeTokens(unknown))

    # The alternatives at a place.

    def _look(self) -> None:
        """Not while paused: the request would appear in the batch that the user inspects."""
        place = self._place
        if place is None or place in self.known or place in self.refusals:
            return
        if self._open or self.is_paused or not self.tokens.token_ids:
            return
        if self._slot_of(self.tokens.chat_id):
            # A chat of its own: it keeps no cells, and so the next one would seem to have lost them.
            self._submit(probe(self.tokens, place, f"{PROBE_ID}{uuid.uuid4().hex}"))
        else:
            self._bring_back()

    def _bring_back(self) -> None:
        """Restore the chat's cells: without them, each request would compute the whole prompt."""
        newest, chat_id = self._recording.newest, self.tokens.chat_id
        if newest is None or not any(saved.chat_id == chat_id for saved in newest.hibernated):
            self._lose_tokens()
        elif not self._is_restoring:
            self._is_restoring = True
            self.commanded.emit(Restore(chat_id))

    def _lose_tokens(self) -> None:
        asked_at = self._asked_at
        self._forget()
        self._asked_at = asked_at  # once is enough
        self.message = GONE if self.source and self.source.reading else NO_TEXT

    def _on_output(self, output: Output) -> None:
        if self._open and output.request_id == self._open.request_id and output.finish_reason:
            self._take_output(output)

    def _take_output(self, output: Output) -> None:
        """The only output with content, since at most one token is generated."""
        if sampled := next(iter(output.logprobs), output.ended_by):
            assert self._place is not None
            self.known[self._place] = TokenCandidates(sampled, output.usage)
        was_reading, self._open = self.is_reading, None
        if output.finish_reason in (FinishReason.ERROR, FinishReason.ABORT):
            self._note_refusal(output.notice or STOPPED, was_reading)
        elif was_reading:
            self.commanded.emit(TokensOf(self._reading_id))

    def _note_refusal(self, notice: str, was_reading: bool) -> None:
        if was_reading:
            self.message = notice
        elif self._place is not None:
            self.refusals[self._place] = notice

    def _submit(self, request: Request) -> None:
        self._open = request
        self.requested.emit(request)

    def abort(self) -> None:
        """End what is being computed. What is known stays."""
        if self._open:
            self.aborted.emit(self._open.request_id)
            self._open = None

    def _forget(self) -> None:
        self.tokens, self.known, self.refusals, self.message = NO_TOKENS, {}, {}, ""
        self._open = self._place = self._asked_at = None
        self._is_restoring = False
