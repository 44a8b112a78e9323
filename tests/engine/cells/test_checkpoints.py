"""Where checkpoints are saved and which are dropped, by hand and on the fake."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.cells.checkpoints import (
    GAP,
    Checkpoints,
    cuts,
    nearest,
    packed,
    places_in,
    taken_along,
    unpacked,
    up_to,
)
from app.engine.engine import Engine
from app.engine.sequence import Slot
from app.protocol.output import PrefixEnd
from app.protocol.request import Request
from tests.driver import GREEDY, ask, run
from tests.fakes import CONTROL, CountingBackend, endless_token

TURN = CONTROL["<|im_start|>"]


def kib(number: int = 1) -> np.ndarray:
    return np.zeros(number * 1024, np.uint8)


# Where


def test_a_prompt_is_cut_before_its_last_token_and_ever_wider_apart_before_that():
    assert cuts([1] * 700, 0, (), ()) == [187, 443, 571, 635, 667, 699]


def test_a_prompt_is_cut_where_turns_begin_once_for_the_tokens_between_two():
    turns = [TURN, *[1] * 99, TURN, 2, TURN, *[1] * 97] * 2
    found = cuts(turns, 0, {TURN}, ())
    assert {100, 200, 300} <= set(found)
    assert 102 not in found


def test_where_another_prompt_goes_another_way_comes_before_all_else():
    assert 650 in cuts([1] * 700, 0, (), [650])
    assert 667 not in cuts([1] * 700, 0, (), [650])


def test_what_is_there_is_the_first_cut_and_nothing_before_it_is_one():
    assert cuts([1] * 700, 600, (), [300]) == [600, 635, 667, 699]


@given(
    length=st.integers(1, 3000),
    start=st.integers(0, 3000),
    borders=st.sets(st.integers(0, 3000), max_size=30),
    known=st.lists(st.integers(0, 3000), max_size=5),
)
def test_cuts_lie_in_order_and_no_nearer_than_the_gap(length, start, borders, known):
    start = min(start, length - 1)
    tokens = [TURN if place in borders else 1 for place in range(length)]
    found = cuts(tokens, start, {TURN}, known)
    assert all(after - before >= GAP for before, after in pairwise(found))
    assert all(start <= place < length for place in found)


def test_the_nearest_one_lies_at_or_before_the_place():
    saved = {10: kib(), 50: kib()}
    assert [nearest(saved, place) for place in (9, 10, 49, 50, 99)] == [0, 10, 10, 50, 50]
    assert list(up_to(saved, 49)) == [10]


# Which are dropped


def holder(*places: int, num_tokens: int = 1000) -> Slot:
    return Slot(0, token_ids=[1] * num_tokens, checkpoints={place: kib() for place in places})


def test_beyond_the_budget_the_one_that_saves_least_is_dropped():
    slot = holder(100, 110, 500, 900, 1000)
    changed: list[Slot] = []
    checkpoints = Checkpoints(CountingBackend(max_checkpoint_bytes=4 * 1024), [slot], changed.append)
    checkpoints._keep_budget()
    assert changed == [slot]
    assert sorted(slot.checkpoints) in ([100, 500, 900, 1000], [110, 500, 900, 1000])


def test_one_that_two_slots_have_counts_once():
    slot = holder(100)
    other = replace(slot, seq_id=1, checkpoints=dict(slot.checkpoints))
    assert Checkpoints(CountingBackend(), [slot, other], lambda _slot: None).num_bytes == 1024


def test_a_saved_state_takes_small_ones_along_and_of_large_ones_the_best():
    small = {place: kib() for place in range(100, 1000, 100)}
    assert taken_along(small, 1000, kib()) == small
    large = {place: kib(8 * 1024) for place in range(100, 1000, 100)}
    assert len(taken_along(large, 1000, kib(8 * 1024))) == 4


# In the engine


@pytest.fixture
def engine():
    backend = CountingBackend(
        endless_token, n_ctx=2048, n_batch=256, n_ubatch=256, is_recurrent=True, takes_checkpoints=True
    )
    engine = Engine(backend, verify=True)
    yield engine
    engine.close()


def question(name: str, tokens: list[int], **options: object) -> Request:
    values = {"sampling": GREEDY, "max_tokens": 8} | options
    return Request(f"{name} {len(tokens)} {tokens[-1]}", name, prompt=tuple(tokens), **values)  # type: ignore[arg-type]


DOCUMENT = [7] * 600


def slot_of(engine: Engine, name: str) -> Slot:
    return next(slot for slot in engine.slots.slots if slot.chat_id == name)


def test_an_edit_computes_from_the_nearest_checkpoint(engine):
    ask(engine, question("a", [*DOCUMENT, *[1] * 40]))
    usage = ask(engine, question("a", [*DOCUMENT, *[2] * 40])).usage
    assert usage.num_prompt_tokens - 64 <= usage.num_reused_tokens + 40 <= usage.num_prompt_tokens
    assert usage.prefix_end in (PrefixEnd.DIFFERENT, PrefixEnd.CHECKPOINT)


def test_a_second_chat_shares_up_to_a_checkpoint_and_a_third_one_all_that_both_have(engine):
    ask(engine, question("a", [*DOCUMENT, *[1] * 40]))
    second = ask(engine, question("b", [*DOCUMENT, *[2] * 40])).usage
    assert len(DOCUMENT) - 64 <= second.num_shared_tokens < len(DOCUMENT)
    third = ask(engine, question("c", [*DOCUMENT, *[3] * 40])).usage
    assert third.num_shared_tokens == len(DOCUMENT)


def test_prompts_that_are_computed_together_share_to_the_last_token(engine):
    asked = [question(name, [*DOCUMENT, *[number] * 40]) for number, name in enumerate("abc")]
    answers = run(engine, *asked).answers
    assert [answers[one.request_id].usage.num_shared_tokens for one in asked] == [0, 600, 600]


def test_an_answer_leaves_one_every_so_often(engine):
    ask(engine, question("a", DOCUMENT, max_tokens=200))
    places = [place for place in slot_of(engine, "a").checkpoints if place > len(DOCUMENT)]
    assert len(places) == 3


def test_a_request_that_has_no_next_turn_leaves_none_of_its_own(engine):
    run(engine, question("a", DOCUMENT, keep_cells=False))
    saved = [slot.checkpoints for report in [engine.report()] for slot in report.slots]
    assert saved == [()] * 4


def test_the_snapshot_names_them_with_their_memory(engine):
    ask(engine, question("a", DOCUMENT))
    slot = next(slot for slot in engine.report().slots if slot.chat_id == "a")
    assert slot.checkpoints == tuple(sorted(slot_of(engine, "a").checkpoints))
    assert slot.checkpoint_bytes == 8 * len(slot.checkpoints)


def test_a_hibernated_chat_takes_them_along(engine):
    ask(engine, question("a", [*DOCUMENT, *[1] * 40]))
    before = list(slot_of(engine, "a").checkpoints)
    assert engine.slots.hibernate_chat("a")
    usage = ask(engine, question("a", [*DOCUMENT, *[2] * 40])).usage
    assert usage.num_restored_tokens == nearest(before, len(DOCUMENT))


def test_the_lease_says_that_a_checkpoint_was_used(engine):
    first = run(engine, question("a", [*DOCUMENT, *[1] * 40]))
    again = run(engine, question("a", [*DOCUMENT, *[2] * 40]))
    leases = [lease for result in (first, again) for report in result.reports for lease in report.leases]
    assert [lease.is_from_checkpoint for lease in leases] == [False, True]


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


@given(state=st.binary(), checkpoints=st.dictionaries(st.integers(1, 2**31), st.binary(min_size=1)))
def test_what_was_packed_comes_back(state, checkpoints):
    whole = packed(array(state), {place: array(data) for place, data in checkpoints.items()})
    assert places_in(whole) == tuple(sorted(checkpoints))
    found, found_checkpoints = unpacked(whole)
    assert found.tobytes() == state
    assert {place: one.tobytes() for place, one in found_checkpoints.items()} == checkpoints


@given(st.binary(max_size=200))
def test_a_state_without_any_is_as_it_was(state):
    assert places_in(array(state)) == ()
    assert unpacked(array(state))[0].tobytes() == state


@given(st.binary(max_size=60), st.integers(-(2**63), 2**63 - 1))
def test_a_number_of_them_that_cannot_be_true_is_not_believed(state, number):
    mark = packed(array(b""), {})[8:].tobytes()
    whole = array(state + np.array([number]).tobytes() + mark)
    if number:
        assert (
            unpacked(whole)[0].nbytes + sum(one.nbytes for one in unpacked(whole)[1].values()) <= whole.nbytes
        )
        assert len(places_in(whole)) in (0, number)


def test_a_checkpoint_does_not_keep_the_state_in_memory():
    _, checkpoints = unpacked(packed(array(bytes(1000)), {5: array(b"five")}))
    assert checkpoints[5].base is None
