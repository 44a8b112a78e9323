"""Each sentence and figure of the panels is true, whatever people do: type, send, stop, edit, fork, pause.

What it is compared with is a second, simple reading of spans and events, and what the session knows it did.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.chats.chat import Chat
from app.engine.batching import stepping
from app.engine.llama.loading import open_llama_backend
from app.inspector.chat_names import chat_name
from app.inspector.event_words import words
from app.inspector.prefix_view import (
    head_of_lease,
    num_had,
    parts_of,
    share_text,
    what_happened,
    what_it_cost,
)
from app.inspector.sequence_rows import COLUMNS, STATE, rows_of
from app.inspector.step_rows import StepRows
from app.protocol import events
from app.protocol.load import LoadParams
from app.protocol.output import PrefixEnd, Usage
from app.protocol.report import Lease, StepReport
from app.ui.composer.context_meter import num_used
from app.ui.engine.status_bar import work_text
from app.ui.transcript.answer_text import prefix_end_text, usage_rows
from tests.effort import EFFORT
from tests.fakes import CountingBackend, endless_token, pseudo_random_token
from tests.inspector.random_sessions import CHATS, Book, Clock, Held, Replaced, Session, common

NUM_DEEDS = 60
TITLES = {name: name.title() for name in CHATS}
CHANGED = {  # what the reason says has happened, and what the session must have done then
    PrefixEnd.EDITED: "edited",
    PrefixEnd.ANSWER: "edited answer",
    PrefixEnd.SYSTEM: "system",
    PrefixEnd.TOOLS: "tools",
    PrefixEnd.TEMPLATE: "template",
}
LOST_BY = {
    PrefixEnd.EVICTED: events.Evicted,
    PrefixEnd.LOST: events.StateLost,
    PrefixEnd.CLEARED: (events.Cleared, events.StateDropped),
    PrefixEnd.DOUBTED: events.StateUnusable,
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    monkeypatch.setattr(stepping, "perf_counter", clock)
    return clock


@pytest.mark.parametrize("seed", range(60 * EFFORT))
def test_no_sentence_and_no_figure_is_false(seed: int, clock: Clock, qapp: object) -> None:
    rng = random.Random(seed)
    backend = CountingBackend(
        rng.choice([endless_token, pseudo_random_token]),
        n_ctx=rng.choice([200, 320, 800]),
        n_seq_max=rng.choice([1, 2, 4]),
        n_batch=rng.choice([16, 64]),
        is_recurrent=rng.random() < 0.1,
    )
    session = Session(rng, clock, backend)
    session.look = Reader(session, backend.tokens_of).look
    session.play(NUM_DEEDS)
    session.engine.close()


@pytest.mark.native
@pytest.mark.parametrize("seed", range(3 * EFFORT))
@pytest.mark.parametrize("family", ["llama", "gemma3", "lfm2"])
def test_nor_is_any_on_llama_cpp(
    seed: int, family: str, clock: Clock, qapp: object, tiny_gguf: Callable[[str], Path]
) -> None:
    rng = random.Random(seed)
    n_ctx = rng.choice([256, 512])
    params = LoadParams(tiny_gguf(family), n_ctx=n_ctx, n_seq_max=3, n_threads=1, num_drafted_tokens=0)
    with open_llama_backend(params) as backend:
        session = Session(rng, clock, backend)

        def tokens_of(seq_id: int) -> list[int]:
            token_ids = session.engine.slots.slots[seq_id].token_ids
            assert backend.pos_max(seq_id) == len(token_ids) - 1
            return token_ids

        session.look = Reader(session, tokens_of).look
        session.play(NUM_DEEDS)
        session.engine.close()


class Reader:
    """Reads what the panels say after each report."""

    def __init__(self, session: Session, tokens_of: Callable[[int], list[int]]) -> None:
        """`tokens_of` asks the library."""
        self.session, self.book, self._tokens_of = session, Book(session), tokens_of
        self.rows = StepRows()

    def look(self, report: StepReport) -> None:
        self.book.read(report)
        self._check_cells(report)
        for taken in self.book.taken:
            self._check_lease(taken.lease, taken.before, taken.now, is_first=taken.is_first)
        self._check_events(report)
        self._check_costs()
        self._check_batch(report)
        self._check_table(report)
        self._check_status(report)
        self._check_answers(report)
        self._check_gauges(report)

    def _check_cells(self, report: StepReport) -> None:
        """The book is as the library has it: else it is no judge."""
        for slot in report.slots:
            if self.book.owner[slot.seq_id]:
                assert self._tokens_of(slot.seq_id) == self.book.cells[slot.seq_id].token_ids
                assert self.book.owner[slot.seq_id] == slot.chat_id

    # Why did it recompute?

    def _check_lease(self, lease: Lease, before: Held, now: Held, *, is_first: bool) -> None:
        session, chat = self.session, self.session.chats.get(lease.chat_id)
        wanted, held = session.wanted[lease.request_id], before.token_ids[: before.num_sent]
        is_ahead = lease.request_id in session.ahead
        assert lease.is_ahead == is_ahead
        assert (head_of_lease(lease) == "Read ahead") == is_ahead
        if is_first:
            assert num_had(lease) + lease.num_tokens_to_compute == len(wanted)
        assert now.token_ids[: len(wanted)] == wanted[: num_had(lease)]
        assert lease.num_common_tokens <= common(held, wanted) if is_first else True
        num_given = min(before.num_given, num_had(lease), common(before.token_ids, wanted))
        if lease.num_shared_tokens in (0, num_given if num_given > before.num_sent else 0):
            num_own = min(num_had(lease), common(before.token_ids, wanted)) if is_first else 0
            assert not is_first or lease.num_ahead_tokens == max(num_own - max(before.num_sent, num_given), 0)
        else:
            assert lease.num_ahead_tokens == 0
        self._check_reason(lease, held, wanted, is_first=is_first)
        sentence = what_happened(lease, session.engine.model)
        assert ("had been read ahead" in sentence) == (lease.num_ahead_tokens > 0)
        is_only_ahead = lease.num_ahead_tokens == num_had(lease) > 0
        is_new = not (is_ahead or is_only_ahead) and lease.prefix_end is PrefixEnd.NEW_CHAT
        assert (head_of_lease(lease) == "Nothing of this chat was cached") == is_new
        assert "Another chat begins the same way" not in sentence or lease.num_shared_tokens
        share = 100 * num_had(lease) / (num_had(lease) + lease.num_tokens_to_compute)
        told = share_text(lease)
        assert 0 < share < 1 if told == "<1%" else abs(int(told.removesuffix("%")) - share) <= 1
        if chat and not is_ahead:
            chat.was_asked = True
            chat.deeds.clear()

    def _check_reason(self, lease: Lease, held: list[int], wanted: list[int], *, is_first: bool) -> None:
        chat, reason = self.session.chats.get(lease.chat_id), lease.prefix_end
        lost_by = self.book.lost_by.get(lease.chat_id)
        if not held:
            was_asked = not is_first or (chat is not None and chat.was_asked)
            assert (reason is PrefixEnd.NEW_CHAT) == (not was_asked)
        if reason in LOST_BY:
            assert not held
            assert issubclass(lost_by, LOST_BY[reason])
            return
        num_common = common(held, wanted)
        match reason:
            case PrefixEnd.NEW_CHAT:
                assert not held
            case PrefixEnd.REPLACED:
                assert lost_by is Replaced
            case PrefixEnd.NEW_TEXT:
                assert is_first
                assert num_had(lease) >= len(held) == num_common
            case PrefixEnd.RESUMED:
                assert not is_first
                assert num_had(lease) >= len(held)
            case PrefixEnd.SAME:
                assert num_had(lease) == len(wanted) - 1
            case PrefixEnd.NOT_USED:
                assert num_had(lease) < (num_common if is_first else lease.num_common_tokens) <= len(held)
            case PrefixEnd.NO_ROLLBACK:
                assert not self.session.engine.model.has_plain_attention
                assert num_had(lease) < num_common
            case PrefixEnd.CHECKPOINT:
                assert lease.is_from_checkpoint
                assert num_had(lease) < lease.num_common_tokens
            case _:
                assert chat
                rewrites = {"template"} if chat.rewrites else set()
                assert CHANGED[reason] in chat.deeds | rewrites
                assert num_common < len(held) or lost_by is Replaced

    def _check_costs(self) -> None:
        """Of the newest lease of each request."""
        newest = {entry.what.lease.request_id: entry.what for entry in self.session.recording.leases.entries}
        for request_id, prompt in newest.items():
            lease, work = prompt.lease, self.book.work[request_id]
            num_computed = min(work.num_rows, lease.num_tokens_to_compute)
            told = [int(one) for one in re.findall(r"\d+", what_it_cost(prompt).split(" prompt tokens")[0])]
            whole = num_had(lease) + lease.num_tokens_to_compute
            assert told == [num_computed] if num_computed == whole else told == [num_computed, whole]
            broken_off = "broken off" in what_it_cost(prompt)
            assert broken_off == (num_computed < lease.num_tokens_to_compute)
            parts = dict(parts_of(prompt))
            assert sum(parts.values()) == whole
            assert parts.get("computed", 0) == num_computed
            assert parts.get("read ahead", 0) == lease.num_ahead_tokens

    # The other panels.

    def _check_events(self, report: StepReport) -> None:
        leases = iter(report.leases)
        for event in report.events:
            if isinstance(event, events.Leased | events.Resumed):
                lease = next(leases)
                figures = [lease.seq_id, num_had(lease), lease.num_tokens_to_compute]
                assert [int(one) for one in re.findall(r"\d+", words(event))] == figures
                assert words(event).startswith("reads ahead") == lease.is_ahead

    def _check_batch(self, report: StepReport) -> None:
        self.rows.apply(report, {}, TITLES)
        row = 0
        for span in report.spans:
            phase, tab = self.rows.text_at(row, 6), self.rows.text_at(row, 5)
            assert (phase == "read ahead") == (span.request_id in self.session.ahead)
            assert tab == TITLES.get(span.chat_id, "token probabilities")
            row += span.num_rows
        assert self.rows.num_rows() == row == report.num_rows

    def _check_table(self, report: StepReport) -> None:
        for row in rows_of(report, self.session.engine.model, TITLES):
            if not row.slot or not row.slot.request_id:
                continue
            is_ahead = row.slot.request_id in self.session.ahead
            assert (COLUMNS[STATE].text_of(row) == "reading ahead") == is_ahead
            assert row.title == chat_name(row.chat_id or "", TITLES)
            held = self.book.cells[row.slot.seq_id].token_ids
            assert row.slot.num_cells == len(held)

    def _check_status(self, report: StepReport) -> None:
        text = work_text(report)
        in_slots = [slot.request_id for slot in report.slots if slot.request_id]
        num_sent = sum(one not in self.session.ahead for one in in_slots)
        assert "0 tok/s" not in text.split(" · ")
        if report.pause:
            assert text == "paused"
        elif num_sent:
            assert text.startswith(f"answering {num_sent}")
        else:
            assert text == ("reading ahead" if in_slots else "idle" if not report.waiting else "waiting")

    def _check_answers(self, report: StepReport) -> None:
        for output in report.outputs:
            if output.finish_reason and output.request_id in self.book.work:
                self._check_usage(output.usage, self.session.wanted[output.request_id], output.request_id)

    def _check_usage(self, usage: Usage, wanted: list[int], request_id: str) -> None:
        work = self.book.work[request_id]
        assert usage.num_prompt_tokens == len(wanted)
        assert usage.num_generated_tokens == len(work.generated)
        assert usage.num_computed_tokens == work.num_rows_in_all
        assert usage.decode_s == pytest.approx(work.ended_s - work.began_s)
        told = {name: int(figure.replace(",", "")) for name, figure, _ in usage_rows(usage)}
        parts = ("reused", "read ahead", "shared", "restored", "computed", "not computed")
        assert sum(told.get(part, 0) for part in parts) == told["Prompt"] == len(wanted)
        assert told["computed"] + len(work.generated) <= work.num_rows_in_all + 1
        leases = [entry.what.lease for entry in self.session.recording.leases.entries]
        first = next(lease for lease in leases if lease.request_id == request_id)
        assert (usage.num_cached_tokens, usage.num_ahead_tokens) == (num_had(first), first.num_ahead_tokens)
        assert usage.prefix_end == first.prefix_end
        assert prefix_end_text(usage).endswith(".")

    def _check_gauges(self, report: StepReport) -> None:
        for chat in self.session.chats.values():
            slot = next((one for one in report.slots if one.chat_id == chat.name), None)
            used = num_used(Chat(turns=chat.turns), slot)
            if slot and slot.is_running and slot.request_id and chat.open:
                generated = self.book.work[slot.request_id].generated
                assert used == len(self.session.wanted[slot.request_id]) + len(generated)
            else:
                answers = [turn.usage for turn in chat.turns if turn.usage.num_prompt_tokens]
                last = answers[-1] if answers else Usage()
                assert used == last.num_prompt_tokens + last.num_generated_tokens
