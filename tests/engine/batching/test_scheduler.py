"""Who is in the next batch, and with how many rows."""

import time

import pytest

from app.engine.batch import Batch
from app.engine.batching.draft_planner import DraftPlanner
from app.engine.batching.scheduler import HEADROOM_TOKENS, Scheduler
from app.engine.batching.step_budget import StepBudget
from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.slots import SlotPool
from app.engine.detokenizer import Detokenizer
from app.engine.engine import Engine
from app.engine.sequence import Sequence
from app.inspector.event_words import words
from app.protocol.events import EventKind, Paused, PauseReason
from app.protocol.report import WaitReason
from app.protocol.request import Caller, Request
from tests.driver import request, run
from tests.fakes import CountingBackend, endless_token

CHUNK = 32  # prompt rows beside running answers


class FixedBudget:
    def prompt_rows(self, num_decoding: int) -> int:
        return CHUNK if num_decoding else 64


class Bench:
    """A scheduler with everything around it but an engine: `step` computes without sampling."""

    def __init__(self, **model: object) -> None:
        self.backend = CountingBackend(**model)
        self.slots = SlotPool(self.backend, HibernatedChats(ram_bytes=2**20))
        self.scheduler = Scheduler(self.slots, FixedBudget(), DraftPlanner(self.backend))
        self.batch = Batch(self.backend.model.n_batch)

    def add(self, num_tokens: int, first_token: int = 0, chat: str | None = None) -> Sequence:
        return self.add_tokens([first_token] + [1] * (num_tokens - 1), chat)

    def add_tokens(self, tokens: list[int], chat: str | None = None) -> Sequence:
        one = request("text", chat)
        sampler = self.backend.new_sampler(one.sampling, [])
        seq = Sequence(one, tokens, 100, sampler, Detokenizer(lambda _: b""))
        self.scheduler.add(seq)
        return seq

    def schedule(self) -> dict[Sequence, int]:
        self.batch.clear()
        self.scheduler.schedule(self.batch)
        return {span.seq: span.num_rows for span in self.batch.spans}

    def step(self) -> dict[Sequence, int]:
        rows = self.schedule()
        self.backend.decode(self.batch)
        self.slots.memory.note_decoded(self.batch)
        for span in self.batch.spans:
            if span.wants_logits:
                span.seq.append(1)
        return rows


@pytest.fixture
def bench():
    return Bench(n_ctx=512, n_seq_max=4, n_batch=64)


def test_prompts_of_all_chats_share_a_batch(bench):
    first, second = bench.add(20, 1), bench.add(30, 2)
    assert bench.schedule() == {first: 20, second: 30}


@pytest.mark.parametrize(("is_unified", "num_prompts"), [(True, 1), (False, 2)])
def test_a_window_beside_a_state_takes_one_prompt_at_a_time(is_unified, num_prompts):
    """Prompts of unlike lengths would be parted, and what one part drops is missed by another."""
    bench = Bench(n_ctx=2048, n_seq_max=4, n_batch=64, n_swa=32, is_hybrid=True, is_unified=is_unified)
    talking = bench.add(4, 1)
    bench.step()
    first, second = bench.add(20, 2), bench.add(10, 3)
    rows = bench.schedule()
    assert rows[talking] == 1
    assert [seq for seq in (first, second) if seq in rows] == [first, second][:num_prompts]


def test_a_batch_is_never_longer_than_the_context_allows(bench):
    long = bench.add(200)
    assert [bench.step()[long] for _ in range(4)] == [64, 64, 64, 8]


def test_an_answer_comes_before_any_prompt(bench):
    talking = bench.add(4, 1)
    bench.step()
    prompt = bench.add(200, 2)
    assert bench.step() == {talking: 1, prompt: CHUNK}


def test_the_shortest_rest_of_a_prompt_goes_first(bench):
    talking = bench.add(4, 1)
    bench.step()
    long, short = bench.add(200, 2), bench.add(10, 3)
    assert bench.step() == {talking: 1, short: 10, long: CHUNK - 10}


def test_the_prompt_of_the_front_tab_goes_before_a_shorter_one(bench):
    bench.add(4, 1)
    bench.step()
    short, front = bench.add(40, 2), bench.add(60, 3, "front")
    bench.slots.front_chat_id = "front"
    rows = bench.step()
    assert rows[front] > rows[short] > 0


def test_short_prompts_that_keep_coming_do_not_stop_a_long_one(bench):
    talking, long = bench.add(4, 1), bench.add(200, 2)
    for first_token in range(3, 30):
        bench.add(40, first_token)
    computed = []
    while not long.num_generated_tokens:
        rows = bench.step()
        computed.append(rows[long])
        for seq in [
            one for one in bench.scheduler.running if one.num_generated_tokens and one is not talking
        ]:
            bench.scheduler.remove(seq)
    assert min(computed[1:-1]) >= CHUNK // 4


def test_the_front_tab_is_let_in_first(bench):
    for token in (1, 2, 3, 4):
        bench.add(5, token)
    bench.step()
    first, front = bench.add(5, 5), bench.add(5, 6, "front")
    bench.slots.front_chat_id = "front"
    bench.scheduler.remove(bench.scheduler.running[0])
    bench.step()
    assert front in bench.scheduler.running
    assert list(bench.scheduler.waiting) == [first]


def test_the_front_tab_gets_the_slot_of_the_youngest_where_all_answer(bench):
    answers = [bench.add(20, first_token) for first_token in (1, 2, 3, 4)]
    bench.step()
    bench.slots.pin(answers[3].request.chat_id, is_pinned=True)
    bench.add(5, 5)
    front = bench.add(5, 6, "front")
    bench.slots.front_chat_id = "front"
    bench.step()
    assert bench.scheduler.running == [answers[0], answers[1], answers[3], front]
    (event,) = [event for event in bench.slots.event_log.events if event.kind is EventKind.PAUSE]
    assert words(event) == "paused the answer in sequence 2: the current tab goes first"
    bench.scheduler.remove(front)
    assert bench.step()[answers[2]] == 1, "it goes on where it was, before who came later"


def test_the_front_tab_gets_the_cells_of_the_youngest_too():
    bench = Bench(n_ctx=256, n_seq_max=4, n_batch=64)
    older, younger = bench.add(30, 1), bench.add(30, 2)
    bench.step()
    front = bench.add(60, 3, "front")
    assert front not in bench.step()
    bench.slots.front_chat_id = "front"
    assert front in bench.step()
    assert bench.scheduler.running == [older, front]
    assert list(bench.scheduler.waiting) == [younger]


def test_nobody_is_paused_for_the_front_tab_where_that_would_not_help():
    bench = Bench(n_ctx=256, n_seq_max=4, n_batch=64)
    pinned, other = bench.add(100, 1, "pinned"), bench.add(10, 2)
    bench.slots.pin("pinned", is_pinned=True)
    bench.step()
    front = bench.add(100, 3, "front")
    bench.slots.front_chat_id = "front"
    bench.step()
    assert bench.scheduler.running == [pinned, other]
    bench.scheduler.remove(pinned)
    assert front in bench.step()


def test_the_front_tab_waits_while_all_who_answer_are_pinned(bench):
    for first_token in (1, 2, 3, 4):
        bench.slots.pin(bench.add(20, first_token).request.chat_id, is_pinned=True)
    bench.step()
    front = bench.add(5, 6, "front")
    bench.slots.front_chat_id = "front"
    assert front not in bench.step()


def test_prompts_that_begin_alike_compute_the_beginning_once(bench):
    beginning = list(range(100, 200))
    sequences = [bench.add_tokens([*beginning, 200 + index, 1]) for index in range(4)]
    computed = dict.fromkeys(sequences, 0)
    while not all(seq.num_generated_tokens for seq in sequences):
        for seq, num_rows in bench.step().items():
            computed[seq] += num_rows if not seq.num_generated_tokens or seq.num_generated_tokens == 1 else 0
    assert [seq.num_shared_tokens for seq in sequences] == [0, 100, 100, 100]


def test_one_that_waits_for_a_prefix_goes_on_alone_if_that_prompt_ends(bench):
    beginning = list(range(100, 200))
    first, second = bench.add_tokens([*beginning, 200]), bench.add_tokens([*beginning, 201])
    assert second not in bench.step()
    bench.scheduler.remove(first)
    assert second in bench.step()


def test_waiting_for_a_prefix_holds_nobody_else_up(bench):
    beginning = list(range(100, 200))
    bench.add_tokens([*beginning, 200])
    second, other = bench.add_tokens([*beginning, 201]), bench.add(5, 1)
    rows = bench.step()
    assert other in rows
    assert second not in rows


def test_rows_are_sorted_by_seq_id(bench):
    for token in (1, 2, 3):
        bench.add(5, token)
    bench.step()
    assert [span.seq_id for span in bench.batch.spans] == [0, 1, 2]


def test_those_without_a_slot_wait_in_order(bench):
    sequences = [bench.add(5, token) for token in range(6)]
    bench.step()
    assert list(bench.scheduler.waiting) == sequences[4:]


def test_a_prompt_that_would_have_somebody_paused_waits():
    bench = Bench(n_ctx=256, n_seq_max=4, n_batch=64)
    running = bench.add(100, 1)
    bench.step()
    waiting = bench.add(256 - 100 - 2 * HEADROOM_TOKENS + 1, 2)
    assert waiting not in bench.step()
    bench.scheduler.remove(running)
    assert waiting in bench.step()


def test_cells_that_are_shared_anyway_are_not_counted_twice():
    bench = Bench(n_ctx=256, n_seq_max=2, n_batch=64)
    beginning = [*range(100)]
    first = bench.add_tokens([*beginning, 200])
    while not first.num_generated_tokens:
        bench.step()
    second = bench.add_tokens([*beginning, 201])
    assert second in bench.step()


def test_the_front_tab_is_not_paused_for_another():
    bench = Bench(n_ctx=256, n_seq_max=2, n_batch=64)
    older, front = bench.add(30, 1), bench.add(30, 2, "front")
    bench.slots.front_chat_id = "front"
    while older.slot or not older.num_generated_tokens:
        bench.step()
    assert bench.scheduler.running == [front]


def test_the_youngest_is_paused_with_its_tokens_kept():
    bench = Bench(n_ctx=256, n_seq_max=2, n_batch=64)
    older, younger = bench.add(30, 1), bench.add(30, 2)
    while younger.slot or not younger.num_generated_tokens:
        bench.step()
    assert bench.scheduler.running == [older]
    assert list(bench.scheduler.waiting) == [younger]
    assert younger.num_generated_tokens > 0
    assert younger.num_computed_tokens == 0
    assert [words(event) for event in bench.slots.event_log.events[-2:]] == [
        "paused the answer in sequence 1: no free cells",
        f"hibernated sequence 1: {len(younger.token_ids) - 1} tokens",
    ]


def test_a_paused_answer_goes_on_from_its_saved_state():
    bench = Bench(n_ctx=256, n_seq_max=2, n_batch=64)
    older, younger = bench.add(30, 1), bench.add(30, 2)
    while (older.slot and younger.slot) or not younger.num_generated_tokens:
        bench.step()
    num_tokens = len(younger.token_ids)
    bench.scheduler.remove(older)
    assert bench.step() == {younger: 1}
    assert bench.slots.event_log.leases[-1].num_restored_tokens == num_tokens - 1


def test_a_sequence_that_ended_gives_its_slot_back(bench):
    seq = bench.add(5)
    bench.step()
    bench.scheduler.remove(seq)
    assert bench.scheduler.sequences == []
    assert all(slot.leased_to is None for slot in bench.slots.slots)


# What is told of those who wait


def reasons(bench):
    return {one.request_id: one.reason for one in bench.scheduler.waiting_requests()}


def test_who_waits_is_told_with_the_reason_in_the_order_of_their_turn(bench):
    leader = bench.add_tokens([5] * 100)
    bench.step()
    follower = bench.add_tokens([5] * 90 + [6] * 10)
    others = [bench.add(20, first_token) for first_token in range(1, 5)]
    bench.slots.front_chat_id = others[-1].request.chat_id
    bench.schedule()
    assert leader.slot
    waiting = bench.scheduler.waiting_requests()
    assert [(one.request_id, one.reason, one.num_prompt_tokens) for one in waiting] == [
        (follower.request.request_id, WaitReason.SHARES_PREFIX, 100),
        (others[2].request.request_id, WaitReason.QUEUED, 20),
    ]
    assert all(one.waiting_s >= 0 for one in waiting)


def test_an_answer_that_gets_a_shorter_prompt_waits_for_it_and_then_for_a_slot(bench):
    seq = bench.add(20)
    bench.step()
    bench.scheduler.set_aside(seq)
    (waiting,) = bench.scheduler.waiting_requests()
    assert (waiting.reason, waiting.num_generated_tokens) == (WaitReason.REFITTING, 1)
    bench.scheduler.put_back(seq)
    assert list(reasons(bench).values()) == [WaitReason.PAUSED]
    bench.schedule()
    assert reasons(bench) == {}


def test_a_paused_answer_waits_since_its_pause(bench):
    first, second = bench.add(20, 1), bench.add(20, 2)
    bench.step()
    second.submitted_at -= 3600
    assert bench.scheduler.pause_youngest()
    (waiting,) = bench.scheduler.waiting_requests()
    assert (waiting.request_id, waiting.reason) == (second.request.request_id, WaitReason.PAUSED)
    assert waiting.waiting_s < 3600
    assert first.slot


def test_a_pinned_answer_is_paused_last_like_the_one_in_front(bench):
    answers = [bench.add(20, first_token) for first_token in (1, 2, 3)]
    bench.step()
    bench.slots.pin(answers[2].request.chat_id, is_pinned=True)
    bench.slots.front_chat_id = answers[1].request.chat_id
    for expected in (answers[0], answers[2]):
        assert bench.scheduler.pause_youngest()
        assert bench.scheduler.waiting[0] is expected
    assert not bench.scheduler.pause_youngest()


BUSY, OTHER = Caller("busy", "1"), Caller("other", "2")


def called(caller: Caller, max_tokens: int, text: str = "Hi") -> Request:
    return request(text, caller=caller, max_tokens=max_tokens, keep_cells=False)


def num_steps_until_the_end(engine: Engine, one: Request) -> int:
    engine.add_request(one)
    for number in range(1, 200):
        if any(out.finish_reason for out in engine.step().outputs if out.request_id == one.request_id):
            return number
    raise AssertionError("it never ended")


def test_beside_a_caller_of_a_thousand_answers_another_waits_at_most_one_step(monkeypatch):
    """In steps. How much longer each takes, where several sequences share it, is measured elsewhere."""
    monkeypatch.setattr(StepBudget, "prompt_rows", lambda _budget, _num_decoding: CHUNK)
    alone = num_steps_until_the_end(Engine(CountingBackend(endless_token, n_seq_max=4)), called(OTHER, 8))
    engine = Engine(CountingBackend(endless_token, n_seq_max=4, n_ctx=2048))
    for number in range(1_000):
        engine.add_request(called(BUSY, 400, f"Question {number}"))
    for _ in range(10):
        engine.step()
    for _ in range(3):
        assert num_steps_until_the_end(engine, called(OTHER, 8)) <= alone + 1


def test_an_answer_that_gave_way_goes_on_where_it_was():
    texts = []
    for has_company in (False, True):
        engine = Engine(CountingBackend(n_seq_max=2, n_ctx=512))
        first = [called(BUSY, 40, text) for text in ("one", "two")]
        for one in first:
            engine.add_request(one)
        engine.step()
        result = run(engine, *([called(OTHER, 3)] if has_company else []))
        events = [event for report in result.reports for event in report.events]
        paused = [event for event in events if isinstance(event, Paused)]
        assert [event.reason for event in paused] == [PauseReason.TURNS] * has_company
        texts.append([result.answers[one.request_id].text for one in first])
    assert texts[0] == texts[1]


def test_callers_with_the_same_number_of_slots_do_not_pause_each_other(bench):
    engine = Engine(CountingBackend(endless_token, n_seq_max=2))
    reports = run(engine, *(called(caller, 20) for caller in (BUSY, BUSY, OTHER, OTHER))).reports
    assert sum(event.kind is EventKind.PAUSE for report in reports for event in report.events) <= 1


@pytest.mark.parametrize("has_company", [True, False])
def test_whose_tokens_are_slow_leaves_half_of_the_time_to_others(monkeypatch, has_company):
    """As with a grammar that can be read in many ways."""
    clock = [0.0]
    for name in ("thread_time", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: clock[0])

    def compute(_batch: object) -> None:
        clock[0] += 0.01

    def choose_slowly(token_ids: list[int]) -> int:
        clock[0] += 0.4 if ord("S") in token_ids else 0.0
        return ord("a")

    engine = Engine(CountingBackend(choose_slowly, compute, n_seq_max=4, n_ctx=4096))
    slow = called(BUSY, 400, "S")
    engine.add_request(slow)
    if has_company:
        engine.add_request(called(OTHER, 400))
    num_steps = 200
    slow_s = 0.4 * sum(
        span.request_id == slow.request_id for _ in range(num_steps) for span in engine.step().spans
    )
    if has_company:
        assert 0.4 * clock[0] < slow_s <= 0.5 * clock[0] + 0.4
    else:
        assert slow_s == pytest.approx(0.4 * num_steps)
