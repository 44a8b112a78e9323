"""Who is in the next batch, and with how many rows."""

import pytest

from app.engine.batch import Batch
from app.engine.detokenizer import Detokenizer
from app.engine.scheduler import HEADROOM_TOKENS, Scheduler
from app.engine.sequence import Sequence
from app.engine.slots import SlotPool
from app.engine.step_budget import FIRST_CHUNK, StepBudget
from tests.driver import request
from tests.fakes import CountingBackend


class Bench:
    """A scheduler with everything around it but an engine: `step` computes without sampling."""

    def __init__(self, **model: object) -> None:
        self.backend = CountingBackend(**model)
        self.slots = SlotPool(self.backend)
        self.scheduler = Scheduler(self.slots, StepBudget(self.backend.model.n_batch))
        self.batch = Batch(self.backend.model.n_batch)

    def add(self, num_tokens: int, first_token: int = 0) -> Sequence:
        one = request("text")
        sampler = self.backend.new_sampler(one.sampling, [])
        tokens = [first_token] + [1] * (num_tokens - 1)
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
        for span in self.batch.spans:
            tokens = span.seq.token_ids[span.first_pos : span.first_pos + span.num_rows]
            self.slots.note_decoded(span.seq.slot, tokens)
            if span.wants_logits:
                span.seq.append(1)
        return rows


@pytest.fixture
def bench():
    return Bench(n_ctx=512, n_seq_max=4, n_batch=64)


def test_prompts_of_all_chats_share_a_batch(bench):
    first, second = bench.add(20, 1), bench.add(30, 2)
    assert bench.schedule() == {first: 20, second: 30}


def test_a_batch_is_never_longer_than_the_context_allows(bench):
    long = bench.add(200)
    assert [bench.step()[long] for _ in range(4)] == [64, 64, 64, 8]


def test_an_answer_comes_before_any_prompt(bench):
    talking = bench.add(4, 1)
    bench.step()
    prompt = bench.add(200, 2)
    assert bench.step() == {talking: 1, prompt: FIRST_CHUNK}


def test_the_shortest_rest_of_a_prompt_goes_first(bench):
    talking = bench.add(4, 1)
    bench.step()
    long, short = bench.add(200, 2), bench.add(10, 3)
    assert bench.step() == {talking: 1, short: 10, long: FIRST_CHUNK - 10}


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


def test_the_youngest_is_paused_with_its_tokens_kept():
    bench = Bench(n_ctx=256, n_seq_max=2, n_batch=64)
    older, younger = bench.add(30, 1), bench.add(30, 2)
    while younger.slot or not younger.num_generated_tokens:
        bench.step()
    assert bench.scheduler.running == [older]
    assert list(bench.scheduler.waiting) == [younger]
    assert younger.num_generated_tokens > 0
    assert younger.num_computed_tokens == 0
    assert "paused the answer in sequence 1" in bench.scheduler.events[-1]


def test_a_sequence_that_ended_gives_its_slot_back(bench):
    seq = bench.add(5)
    bench.step()
    bench.scheduler.remove(seq)
    assert bench.scheduler.sequences == []
    assert all(slot.leased_to is None for slot in bench.slots.slots)
