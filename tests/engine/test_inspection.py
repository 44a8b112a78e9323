"""What the inspector asks of the engine, and what the reports say of it."""

import time

import pytest

from app.engine.backend import UsedCells
from app.engine.cells.hibernation import HibernatedChats
from app.engine.engine import Engine
from app.inspector.event_words import words
from app.protocol.commands import (
    CheckCells,
    ClearCells,
    Command,
    DescribeTokens,
    Hibernate,
    NoteTool,
    Pin,
    Restore,
    WatchCells,
)
from app.protocol.errors import PositionMismatchError
from app.protocol.events import Event, EventKind, Told, ToolRan
from app.protocol.output import PrefixEnd
from app.protocol.report import SlotState, StepReport, TokenTexts, WaitReason
from app.protocol.request import Request
from tests.driver import Answer, next_turn, request, run
from tests.fakes import END, CountingBackend, endless_token

LONG = "what is the common prefix of all these chats? " * 2


@pytest.fixture
def engine(backend):
    """Checks its cells when it is told to."""
    engine = Engine(backend)
    yield engine
    engine.close()


def answered(engine: Engine, text: str = LONG, chat: str | None = None) -> tuple[str, Answer, Request]:
    """A chat that was answered and is idle now."""
    one = request(text, chat, max_tokens=8)
    return one.chat_id, run(engine, one).answers[one.request_id], one


def obey(engine: Engine, command: Command) -> StepReport:
    engine.report()  # what was told before is not ours
    engine.obey(command)
    return engine.report()


def kinds(report: StepReport) -> list[EventKind]:
    return [event.kind for event in report.events]


def slot_of(report: StepReport, chat_id: str) -> SlotState | None:
    return next((slot.state for slot in report.slots if slot.chat_id == chat_id), None)


# One chat's cells


def test_an_idle_chat_is_hibernated_and_restored_on_demand(engine):
    chat, answer, first = answered(engine)
    num_cells = engine.slots.cells.num_used
    report = obey(engine, Hibernate(chat))
    assert kinds(report) == [EventKind.HIBERNATE]
    assert (report.events[0].chat_id, report.events[0].seq_id) == (chat, 0)
    assert report.cells.num_used == 0
    assert [one.chat_id for one in report.hibernated] == [chat]

    report = obey(engine, Restore(chat))
    assert kinds(report) == [EventKind.RESTORE]
    assert (report.cells.num_used, report.hibernated) == (num_cells, ())
    assert slot_of(report, chat) is SlotState.WARM
    engine.verify()

    second = next_turn(first, answer.text, "and then?")
    usage = run(engine, second).answers[second.request_id].usage
    assert usage.num_reused_tokens >= num_cells - 8  # all but the answer's end, which the template may change
    assert usage.num_restored_tokens == 0


def test_a_chat_restored_on_demand_answers_as_if_it_had_never_left(engine):
    _chat, answer, first = answered(engine)
    expected = run(engine, second := next_turn(first, answer.text, "and then?")).answers[second.request_id]
    other, again_answer, again = answered(engine, chat="another")
    assert again_answer.text == answer.text
    obey(engine, Hibernate(other))
    obey(engine, Restore(other))
    third = next_turn(again, answer.text, "and then?")
    assert run(engine, third).answers[third.request_id].text == expected.text


def test_an_answering_chat_is_neither_hibernated_nor_cleared_and_an_event_says_so(engine):
    one = request(LONG, max_tokens=30)
    engine.add_request(one)
    engine.step()
    num_cells = engine.slots.cells.num_used
    for command, kind in ((Hibernate, EventKind.HIBERNATE), (ClearCells, EventKind.CLEAR)):
        report = obey(engine, command(one.chat_id))
        assert [(event.kind, event.chat_id) for event in report.events] == [(kind, one.chat_id)]
        assert words(report.events[0]).endswith("this chat is answering")
        assert report.cells.num_used == num_cells


def test_a_chat_that_nobody_knows_is_told_as_such(engine):
    for command in (Hibernate("nobody"), Restore("nobody"), ClearCells("nobody")):
        report = obey(engine, command)
        assert len(report.events) == 1
        assert report.events[0].chat_id == "nobody"
        assert report.cells.num_used == 0


def test_cleared_cells_are_not_saved_so_the_next_turn_computes_everything(engine):
    chat, answer, first = answered(engine)
    report = obey(engine, ClearCells(chat))
    assert kinds(report) == [EventKind.CLEAR]
    assert (report.cells.num_used, report.hibernated) == (0, ())
    second = next_turn(first, answer.text, "and then?")
    usage = run(engine, second).answers[second.request_id].usage
    assert usage.num_reused_tokens == usage.num_restored_tokens == 0
    assert usage.prefix_end is PrefixEnd.CLEARED


def test_clearing_a_hibernated_chat_drops_what_was_saved(engine):
    chat, _answer, _first = answered(engine)
    obey(engine, Hibernate(chat))
    report = obey(engine, ClearCells(chat))
    assert kinds(report) == [EventKind.CLEAR]
    assert report.hibernated == ()


def test_a_chat_that_cannot_be_saved_keeps_its_cells():
    engine = Engine(CountingBackend(), HibernatedChats(ram_bytes=0))
    chat, _answer, _first = answered(engine)
    num_cells = engine.slots.cells.num_used
    report = obey(engine, Hibernate(chat))
    assert "not hibernated" in words(report.events[-1])
    assert report.cells.num_used == num_cells


def test_a_restored_chat_takes_the_slot_of_the_oldest_idle_one_if_none_is_empty():
    engine = Engine(CountingBackend(endless_token, n_seq_max=2, n_ctx=1024), verify=True)
    sleeper, _, _ = answered(engine)
    obey(engine, Hibernate(sleeper))
    oldest, newest = (answered(engine, text * 40)[0] for text in "ab")
    report = obey(engine, Restore(sleeper))
    assert slot_of(report, sleeper) is slot_of(report, newest) is SlotState.WARM
    assert [one.chat_id for one in report.hibernated] == [oldest]
    assert kinds(report) == [EventKind.HIBERNATE, EventKind.RESTORE]


def test_nothing_is_lost_when_a_chat_cannot_be_restored_for_want_of_room():
    engine = Engine(CountingBackend(endless_token, n_seq_max=2, n_ctx=256), verify=True)
    sleeper, _, _ = answered(engine)
    obey(engine, Hibernate(sleeper))
    engine.add_request(request("b" * 120, max_tokens=30))
    while engine.slots.cells.num_free >= 118:
        engine.step()
    report = obey(engine, Restore(sleeper))
    assert kinds(report) == [EventKind.RESTORE]
    assert "no room" in words(report.events[0])
    assert [one.chat_id for one in report.hibernated] == [sleeper]


def test_a_saved_state_that_was_damaged_is_not_restored():
    engine = Engine(CountingBackend(), verify=True)
    chat, _answer, _first = answered(engine)
    obey(engine, Hibernate(chat))
    engine.slots.hibernated._saved[chat].checksum ^= 1
    report = obey(engine, Restore(chat))
    assert "could not be used" in words(report.events[0])
    assert (report.cells.num_used, report.hibernated) == (0, ())


def test_a_pinned_chat_gives_way_last():
    engine = Engine(CountingBackend(endless_token, n_seq_max=2, n_ctx=1024))
    pinned, _, _ = answered(engine)
    report = obey(engine, Pin(pinned))
    assert kinds(report) == [EventKind.PIN]
    assert [slot.is_pinned for slot in report.slots] == [True, False]
    other = answered(engine, "b" * 40)[0]
    third = answered(engine, "c" * 40)[0]
    report = engine.report()
    assert (slot_of(report, pinned), slot_of(report, third)) == (SlotState.WARM, SlotState.WARM)
    assert [one.chat_id for one in report.hibernated] == [other]

    obey(engine, Pin(pinned, is_pinned=False))
    answered(engine, "d" * 40)
    assert slot_of(engine.report(), pinned) is None


def test_a_pinned_answer_is_paused_last_and_nobody_fails():
    engine = Engine(CountingBackend(endless_token, n_seq_max=2, n_ctx=256))
    older, younger = request("a" * 30, max_tokens=100), request("b" * 30, max_tokens=100)
    engine.obey(Pin(younger.chat_id))
    result = run(engine, older, younger)
    paused = [
        event.chat_id for report in result.reports for event in report.events if event.kind is EventKind.PAUSE
    ]
    assert set(paused) == {older.chat_id}
    assert [len(answer.text) for answer in result.answers.values()] == [100, 100]
    waiting = {(one.request_id, one.reason) for report in result.reports for one in report.waiting}
    assert waiting == {(older.request_id, WaitReason.PAUSED), (younger.request_id, WaitReason.QUEUED)} or (
        waiting == {(older.request_id, WaitReason.PAUSED)}
    )


def test_a_pinned_chat_still_gives_way_when_everything_else_is_gone():
    engine = Engine(CountingBackend(endless_token, n_seq_max=1, n_ctx=256))
    pinned, _, _ = answered(engine)
    obey(engine, Pin(pinned))
    one = request("b" * 120, max_tokens=30)
    assert len(run(engine, one).answers[one.request_id].text) == 30
    assert [chat.chat_id for chat in engine.report().hibernated] == [pinned]


def test_a_closed_chat_is_pinned_no_longer(engine):
    chat, _answer, _first = answered(engine)
    obey(engine, Pin(chat))
    engine.forget(chat)
    assert engine.slots.pinned_chat_ids == set()


def test_the_time_of_a_tool_is_told_with_the_sequence_that_waited_for_it(engine):
    chat, _answer, _first = answered(engine)
    seq_id = next(slot.seq_id for slot in engine.report().slots if slot.chat_id == chat)
    assert obey(engine, NoteTool(chat, "clock", 0.5)).events == (ToolRan(seq_id, chat, "clock", 0.5),)
    assert obey(engine, NoteTool("gone", "clock", 0.5)).events == (ToolRan(None, "gone", "clock", 0.5),)


# Questions


def test_the_check_of_all_cells_is_answered_and_remembered(engine):
    answered(engine)
    report = obey(engine, CheckCells())
    (check,) = report.answers
    assert check.agrees
    assert check.can_compare
    assert check.num_cells == report.cells.num_used > 0
    assert report.last_check == check == engine.report().last_check
    assert kinds(report) == [EventKind.VERIFY]
    assert engine.report().answers == ()


class ReversedBackend(CountingBackend):
    def used_cells(self) -> UsedCells | None:
        cells = super().used_cells()
        return cells and UsedCells(cells.pos[::-1], cells.holders[::-1])


def test_cells_in_another_order_are_only_told():
    """The answers are right: only the map of the cells is not."""
    engine = Engine(ReversedBackend())
    answered(engine)
    (check,) = obey(engine, CheckCells()).answers
    assert (check.agrees, check.is_order_only) == (False, True)
    assert "in another order" in check.difference
    answered(engine)


def test_cells_in_another_order_end_an_engine_that_is_checked_in_each_step():
    engine = Engine(ReversedBackend(), verify=True)
    with pytest.raises(PositionMismatchError, match="in another order"):
        answered(engine)


def test_a_disagreement_found_in_a_step_is_kept_too(engine):
    engine.add_request(request(LONG, max_tokens=30))
    engine.step()
    engine.step()
    engine._backend.truncate(0, 10)
    with pytest.raises(PositionMismatchError) as caught:
        engine.step()
    check = engine.post_mortem(caught.value).last_check
    assert check is not None
    assert check.difference == str(caught.value)


def test_a_model_without_cells_cannot_be_compared_cell_by_cell():
    engine = Engine(CountingBackend(is_recurrent=True))
    answered(engine)
    (check,) = obey(engine, CheckCells()).answers
    assert (check.can_compare, check.agrees) == (False, True)


def test_tokens_are_written_out_and_control_tokens_by_name(engine):
    control = engine._backend.tokenize("<|im_end|>", parse_special=True)
    letters = engine._backend.tokenize("ab", parse_special=False)
    token_ids = (*letters, *control)
    (texts,) = obey(engine, DescribeTokens(token_ids)).answers
    assert texts.token_ids == token_ids
    assert b"".join(texts.texts) == b"ab<|im_end|>"


def test_what_a_lease_tells_of_its_prompt_comes_in_words(engine):
    engine.add_request(request("hello", "a"))
    report = engine.step()
    [lease] = report.leases
    [texts] = report.answers
    assert set(texts.token_ids) == {*lease.common, *lease.held, *lease.wanted}
    assert b"".join(texts.texts)
    assert engine.step().answers == ()


def test_what_is_no_token_of_this_model_has_no_text():
    engine = Engine(CountingBackend())
    report = obey(engine, DescribeTokens((-1, END, 1_000_000)))
    assert report.answers == (TokenTexts((-1, END, 1_000_000), (b"", b"<|im_end|>", b"")),)


def test_somebody_who_watches_the_cells_gets_a_map(engine):
    answered(engine)
    report = obey(engine, WatchCells())
    assert report.cell_map is not None
    assert int((report.cell_map.pos >= 0).sum()) == report.cells.num_used
    assert obey(engine, WatchCells(is_watching=False)).cell_map is None


# What the reports tell


def events_of(reports: list[StepReport], kind: EventKind) -> list[Event]:
    return [event for report in reports for event in report.events if event.kind is kind]


def test_the_way_of_a_chat_through_its_slot_is_told_in_events(engine):
    first, second = request(LONG + "one", max_tokens=4), request(LONG + "two", max_tokens=60)
    reports = [*run(engine, first).reports]
    engine.add_request(second)
    reports += [engine.step(), engine.step()]
    engine.slots.fork(first.chat_id, "fork")
    engine.abort(second.request_id)
    engine.forget(first.chat_id)
    reports.append(engine.report())
    ways = [(event.kind, event.seq_id, event.chat_id) for report in reports for event in report.events]
    assert [way for way in ways if way[0] is not EventKind.NATIVE] == [
        (EventKind.LEASE, 0, first.chat_id),
        (EventKind.RELEASE, 0, first.chat_id),
        (EventKind.SHARE, 1, second.chat_id),
        (EventKind.LEASE, 1, second.chat_id),
        (EventKind.FORK, 2, "fork"),
        (EventKind.ABORT, 1, second.chat_id),
        (EventKind.RELEASE, 1, second.chat_id),
        (EventKind.CLEAR, 0, first.chat_id),
    ]


def test_a_paused_answer_and_its_return_are_told():
    engine = Engine(CountingBackend(endless_token, n_seq_max=2, n_ctx=256))
    older, younger = request("a" * 30, max_tokens=100), request("b" * 30, max_tokens=100)
    reports = run(engine, older, younger).reports
    assert [event.chat_id for event in events_of(reports, EventKind.PAUSE)] == [younger.chat_id]
    assert [event.chat_id for event in events_of(reports, EventKind.RESUME)] == [younger.chat_id]
    assert len(events_of(reports, EventKind.LEASE)) == 2


def test_a_saved_state_that_had_to_go_is_told():
    engine = Engine(CountingBackend(endless_token, n_seq_max=1), HibernatedChats(ram_bytes=800))
    lost = answered(engine, "a" * 60)[0]
    answered(engine, "b" * 60)
    report = run(engine, request("c" * 60)).reports[0]
    assert (EventKind.EVICT, lost) in [(event.kind, event.chat_id) for event in report.events]


def test_the_warnings_of_the_library_are_events():
    backend = CountingBackend()
    engine = Engine(backend)
    backend.log_lines = ["decode: failed to find a memory slot"]
    assert engine.report().events == (Told(EventKind.NATIVE, "decode: failed to find a memory slot"),)
    assert engine.report().events == ()


def test_a_span_carries_the_tokens_that_were_in_the_batch(engine):
    one = request(LONG, max_tokens=6)
    result = run(engine, one)
    tokens = [token for report in result.reports for span in report.spans for token in span.token_ids]
    assert tokens == engine.slots.slots[0].token_ids


def test_a_slot_tells_how_long_its_chat_may_get(engine):
    assert [slot.max_context_tokens for slot in engine.report().slots] == [0] * 4
    capped, free = request("hello", max_tokens=2, max_context_tokens=100), request("other", max_tokens=2)
    run(engine, capped, free)
    limits = [slot.max_context_tokens for slot in engine.report().slots]
    assert limits == [100, engine.model.max_sequence_tokens, 0, 0]


def test_times_of_a_step_add_up(engine):
    engine.add_request(request("hello", max_tokens=6))
    before = round(time.perf_counter(), 6)
    first, second = engine.step(), engine.step()
    assert before <= first.started_at <= second.started_at <= round(time.perf_counter(), 6)
    for report in (first, second):
        assert 0 < report.sample_ms <= report.update_ms
        assert report.return_code == 0
    assert engine.report().sample_ms == 0


def test_what_nothing_was_done_to_is_not_asked_for_again():
    """Of the library: its answers take most of the time that a report takes."""
    backend = CountingBackend(endless_token)
    engine = Engine(backend)
    answered(engine)
    engine.add_request(request("another", max_tokens=30))
    engine.step()
    asked: list[int] = []
    pos_max = backend.pos_max
    backend.pos_max = lambda seq_id: (asked.append(seq_id), pos_max(seq_id))[1]
    engine.step()
    assert set(asked) == {1}


def test_each_sampled_row_has_a_hash_and_each_lease_the_whole_prompt() -> None:
    backend = CountingBackend(endless_token)
    reports = run(
        Engine(backend), request("a cat", "a", max_tokens=5), request("b", "b", max_tokens=3)
    ).reports
    spans = [span for report in reports for span in report.spans if span.logits_hashes]
    assert sum(len(span.logits_hashes) for span in spans) == 4 * (5 + 3)
    assert len({span.logits_hashes for span in spans}) == len(spans)
    prompts = [lease.prompt_bytes for report in reports for lease in report.leases]
    assert [len(prompt) // 4 for prompt in prompts] == [
        next(
            span.first_pos + span.num_rows
            for report in reports
            for span in report.spans
            if span.chat_id == chat
        )
        for chat in ("a", "b")
    ]
    unwatched = run(Engine(CountingBackend(endless_token), is_recorded=False), request("a")).reports
    assert not any(span.logits_hashes for report in unwatched for span in report.spans)
