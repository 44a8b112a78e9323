"""The flight recorder: the last steps of the engine, in bounded memory.

Works on reports alone and knows no widget. GUI thread.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from app.inspector.draft_steps import DraftSteps
from app.inspector.stalls import Before, Cause, causes_of
from app.look.words import tr
from app.protocol.events import Event
from app.protocol.lens import LensAnswer
from app.protocol.media import MediaKind
from app.protocol.model import ModelInfo
from app.protocol.report import (
    Answer,
    CellCheck,
    CellMap,
    ChatTokens,
    Lease,
    Span,
    StepReport,
    TokenizedText,
    TokenTexts,
)
from app.protocol.server_figures import ServerFigures
from app.protocol.wire import MAX_STEPS, REPORT, frame, message_in

if TYPE_CHECKING:
    from app.inspector.step_columns import StepColumns

MAX_TITLES = 1_000
MAX_TOKEN_TEXTS = 300_000  # no vocabulary is larger by far
MAX_QUERIES = 8
MAX_BETWEEN = 1_000  # how far to search back for the previous step
MAX_EVENTS = 20_000
MAX_LEASES = 500
MAX_FIGURES = 600
NUM_UNPACKED = 64  # the newest steps, which panels ask for again and again

T = TypeVar("T")
_SIGNS = str.maketrans({" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥"})
LAST_TEXT = -1  # below it, a token id stands for a row of a picture or a sound


class Recording:
    """What the panels show. `num_seen` counts all reports ever: each panel asks for those after its own
    count.

    `name` is that of its file, empty for the live one. Only the newest cell map, tokenized text and chat
    tokens are kept.
    """

    def __init__(self, max_steps: int = MAX_STEPS, name: str = "") -> None:
        self.name = name
        self.max_steps = max_steps
        self.is_loading = False  # the first model, or the next one
        self.num_seen = 0
        self.titles: dict[str, str] = {}  # by chat_id, also of tabs that are closed by now
        self.start(None)

    def start(self, model: ModelInfo | None) -> None:
        """A new model means a new context: everything starts anew."""
        self.foreign = model if model and model.is_foreign else None  # its server tells `figures` alone
        self.model = None if self.foreign else model
        self.figures: deque[ServerFigures] = deque(maxlen=MAX_FIGURES)  # one a second while it is asked
        self.is_over = False  # its engine is gone, so there are no more answers
        self.token_texts: dict[int, bytes] = {}
        self._asked_tokens: set[int] = set()
        self.cell_map: CellMap | None = None
        self.tokenized: TokenizedText | None = None
        self.chat_tokens: ChatTokens | None = None
        self._seen: dict[str, list[LensAnswer]] = {}  # by query, until a panel takes them
        self.events: Journal[Event] = Journal(MAX_EVENTS)
        self.leases: Journal[LeasedPrompt] = Journal(MAX_LEASES)
        self._prompts: dict[int, LeasedPrompt] = {}  # the newest one of each sequence
        self.disagreement: CellCheck | None = None  # the first one is the evidence
        self.steps = PackedSteps(self.max_steps)
        self.drafts = DraftSteps()
        self._columns: StepColumns | None = None

    @property
    def is_live(self) -> bool:
        return not self.name

    @property
    def columns(self) -> StepColumns:
        """Created with the first step, since it imports numpy, which the first paint must not wait for."""
        if self._columns is None:
            from app.inspector.step_columns import StepColumns

            self._columns = StepColumns(self.max_steps)
        return self._columns

    @property
    def num_steps(self) -> int:
        """Of the reports that are kept; others came between two steps."""
        first = self.num_seen - len(self.steps)
        return int((self.columns.figures["number"] >= first).sum())

    @property
    def newest(self) -> StepReport | None:
        return self.steps[-1] if self.steps else None

    def copy(self) -> Recording:
        """What a file is written from: another thread may read it while this one grows."""
        copy = Recording(self.max_steps, self.name)
        copy.model, copy.cell_map, copy.steps = self.model, self.cell_map, self.steps.copy()
        copy.titles, copy.token_texts = dict(self.titles), dict(self.token_texts)
        return copy

    def append(self, reports: Iterable[StepReport]) -> None:
        for report in reports:
            if report.server:
                self.figures.append(report.server)
            if self.foreign:
                continue
            if report.cell_map is not None:
                self.cell_map = report.cell_map
                report = replace(report, cell_map=None)
            if report.answers:
                report = replace(report, answers=tuple(filter(self._is_kept, report.answers)))
            self._note(report)
            self.steps.append(report)
            self.drafts.note(report)
            self.columns.append(self.num_seen, report)
            self.num_seen += 1

    def _note(self, report: StepReport) -> None:
        """Rare things are kept longer than steps, so that a panel that was hidden need not read thousands."""
        for event in report.events:
            self.events.append(JournalEntry(report.step, report.started_at, event))
        for lease in report.leases:
            self._prompts[lease.seq_id] = LeasedPrompt(lease)
            self.leases.append(JournalEntry(report.step, report.started_at, self._prompts[lease.seq_id]))
        for span in report.spans:
            if prompt := self._prompts.get(span.seq_id):
                prompt.note(span, report.decode_ms)
        check = report.last_check
        if check and not check.agrees and self.disagreement is None:
            self.disagreement = check

    def new_since(self, num_seen: int) -> list[StepReport]:
        """The reports after the first `num_seen`, as far as they are still kept, oldest first."""
        return self.steps.newest(max(0, min(self.num_seen - num_seen, len(self.steps))))

    def report_at(self, number: int) -> StepReport | None:
        """The report that was the `number`th, counted from 0, if it is still kept."""
        at = number - (self.num_seen - len(self.steps))
        return self.steps[at] if 0 <= at < len(self.steps) else None

    def causes_at(self, index: int) -> list[Cause]:
        """The causes that held up the step in this row of the columns."""
        figures = self.columns.figures
        number = int(figures["number"][index])
        report = self.report_at(number)
        if report is None:
            return []
        former_number = int(figures["number"][index - 1]) if index else 0
        before = Before()
        for between in range(max(former_number, number - MAX_BETWEEN), number):
            if former := self.report_at(between):
                before = before.after(former)
        return causes_of(report, replace(before, usual_ms=float(figures["usual_ms"][index])))

    def unknown_tokens(self, token_ids: Iterable[int]) -> tuple[int, ...]:
        """Each token once whose text is neither known nor asked for yet: now it is."""
        wanted = dict.fromkeys(one for one in token_ids if one > LAST_TEXT and one not in self.token_texts)
        unknown = tuple(one for one in wanted if one not in self._asked_tokens)
        self._asked_tokens.update(unknown)
        return unknown

    def take_seen(self, query_id: str) -> list[LensAnswer]:
        """What the lens has answered since the last call."""
        return self._seen.pop(query_id, [])

    def note_titles(self, titles: Mapping[str, str]) -> None:
        """A title outlives its tab: the chat's steps are still here."""
        for chat_id, title in titles.items():
            self.titles.pop(chat_id, None)  # the newest go last
            self.titles[chat_id] = title
        while len(self.titles) > MAX_TITLES:
            del self.titles[next(iter(self.titles))]

    def _is_kept(self, answer: Answer) -> bool:
        """Take an answer to a panel's query. Returns whether to keep it with its step."""
        match answer:
            case TokenTexts():
                self._note_texts(answer)
            case TokenizedText(_, tokens):
                self.tokenized = answer
                self._note_texts(tokens)
                return False
            case ChatTokens():
                self.chat_tokens = answer
                return False
            case _ if isinstance(answer, LensAnswer):
                self._seen.setdefault(answer.query_id, []).append(answer)
                while len(self._seen) > MAX_QUERIES:  # nobody wants the oldest any more
                    del self._seen[next(iter(self._seen))]
                return False
        return True

    def _note_texts(self, tokens: TokenTexts) -> None:
        if len(self.token_texts) < MAX_TOKEN_TEXTS:
            self.token_texts.update(zip(tokens.token_ids, tokens.texts, strict=True))


@dataclass(slots=True, eq=False)
class LeasedPrompt:
    """A prompt that got a slot, and how many of the tokens that it lacked were computed so far."""

    lease: Lease
    num_computed: int = 0
    decode_ms: float = 0.0  # of the steps that computed them, also rows of others

    @property
    def num_missing(self) -> int:
        return self.lease.num_tokens_to_compute - self.num_computed

    def note(self, span: Span, decode_ms: float) -> None:
        if self.num_missing and span.request_id == self.lease.request_id:
            self.num_computed += min(span.num_rows, self.num_missing)
            self.decode_ms += decode_ms


class PackedSteps:
    """The newest `max_steps` reports, oldest first: the latest ones as objects, the others packed.

    A report of eight running sequences is forty Python objects and 10 KB. Packed it takes half a KB, so that
    ten thousand of them burden neither memory nor garbage collector.
    """

    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps
        self.packed: deque[bytes] = deque()
        self._latest: deque[StepReport] = deque()

    def copy(self) -> PackedSteps:
        """Another thread may read the copy while steps go on."""
        copy = PackedSteps(self._max_steps)
        copy.packed, copy._latest = self.packed.copy(), self._latest.copy()
        return copy

    def append(self, report: StepReport) -> None:
        self._latest.append(report)
        if len(self._latest) > NUM_UNPACKED:
            self.packed.append(zlib.compress(frame({}, *REPORT.packed(self._latest.popleft())), 1))
        if len(self) > self._max_steps:
            (self.packed or self._latest).popleft()

    def newest(self, number: int) -> list[StepReport]:
        """The last `number` reports, oldest first."""
        return [self[at] for at in range(len(self) - number, len(self))]

    def __len__(self) -> int:
        return len(self.packed) + len(self._latest)

    def __iter__(self) -> Iterator[StepReport]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, index: int) -> StepReport:
        at = range(len(self))[index]
        if at >= len(self.packed):
            return self._latest[at - len(self.packed)]
        return REPORT.unpacked(message_in(zlib.decompress(self.packed[at]))[1])


@dataclass(frozen=True, slots=True)
class JournalEntry(Generic[T]):
    """`what` happened in `step`, which began at `started_at` (`time.perf_counter()` seconds)."""

    step: int
    started_at: float
    what: T


class Journal(Generic[T]):
    """The newest entries. `num_seen` counts all ever added: a reader asks for those after its own count."""

    def __init__(self, max_entries: int) -> None:
        self.entries: deque[JournalEntry[T]] = deque(maxlen=max_entries)
        self.num_seen = 0

    def append(self, entry: JournalEntry[T]) -> None:
        self.entries.append(entry)
        self.num_seen += 1

    def new_since(self, num_seen: int) -> list[JournalEntry[T]]:
        """The entries after the first `num_seen`, as far as they are still kept, oldest first."""
        num_new = max(0, min(self.num_seen - num_seen, len(self.entries)))
        return list(islice(self.entries, len(self.entries) - num_new, None))


def shown(text: bytes) -> str:
    """Spaces and line ends by a sign; half a character by its bytes, `\\xe2`."""
    characters = text.decode("utf-8", "backslashreplace").translate(_SIGNS)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in characters)


def kind_text(kind: MediaKind | None) -> str:
    if kind is None:
        return tr("picture or sound")
    return tr("picture") if kind is MediaKind.PICTURE else tr("sound")
