import time

import pytest

from app.engine.detokenizer import Detokenizer
from app.engine.prompt import CachedPrefix, Prompt
from app.engine.sequence import Sequence, Slot
from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.report import SlotState
from tests.driver import request
from tests.fakes import CountingBackend

ROOM = 100


def sequence(prompt: tuple[int, ...] = (1, 2, 3), max_tokens: int | None = 8) -> Sequence:
    backend = CountingBackend()
    seq = Sequence(
        request=request("x", max_tokens=max_tokens),
        token_ids=[],
        max_tokens=0,
        sampler=backend.new_sampler(backend.model.sampling, prompt, 0),
        detokenizer=Detokenizer(backend.token_piece),
    )
    seq.refit(Prompt(prompt), ROOM)
    return seq


def test_what_the_slot_does_not_hold_is_pending():
    seq = sequence()
    assert (seq.num_computed_tokens, seq.num_pending_tokens) == (0, 3)
    seq.slot = Slot(0, token_ids=[1, 2], leased_to=seq)
    assert (seq.num_computed_tokens, seq.num_pending_tokens) == (2, 1)


def test_it_decodes_once_only_its_newest_own_token_is_pending():
    seq = sequence()
    seq.slot = Slot(0, token_ids=[1, 2], leased_to=seq)
    assert not seq.is_decoding, "the last token of the prompt is not one of the answer"
    seq.slot.token_ids.append(3)
    seq.append(4)
    assert seq.is_decoding
    seq.append(5)
    assert not seq.is_decoding


@pytest.mark.parametrize(
    ("prompt_tokens", "max_tokens", "expected"), [(3, 8, 8), (3, None, ROOM - 3), (95, 8, 5)]
)
def test_an_answer_may_have_what_was_asked_or_what_the_context_leaves(prompt_tokens, max_tokens, expected):
    assert sequence(tuple(range(prompt_tokens)), max_tokens).max_tokens == expected


def test_a_shorter_prompt_keeps_what_was_generated():
    seq = sequence()
    seq.append(10)
    seq.append(11)
    seq.num_reported_tokens = 1
    seq.refit(Prompt((7,), notice="2 messages were left out."), ROOM)
    assert seq.token_ids == [7, 10, 11]
    assert (seq.num_prompt_tokens, seq.num_generated_tokens) == (1, 2)
    assert seq.unreported_token_ids == (11,)
    assert seq.is_shortened


def test_a_prompt_that_leaves_no_room_is_our_mistake():
    with pytest.raises(AssertionError, match="leaves room"):
        sequence(tuple(range(ROOM)))


def test_what_a_prompt_was_made_of_is_told_of_its_first_slot_only():
    seq = sequence()
    seq.note_lease(CachedPrefix(num_shared=2), PrefixEnd.NEW_TEXT)
    seq.note_lease(CachedPrefix(num_restored=1), PrefixEnd.EVICTED)
    usage = seq.usage
    assert usage.prefix_end is PrefixEnd.NEW_TEXT
    assert (usage.num_shared_tokens, usage.num_restored_tokens) == (2, 0)


def test_no_more_of_a_prompt_was_cached_than_it_has():
    seq = sequence()
    seq.note_lease(CachedPrefix(num_shared=2), PrefixEnd.NEW_TEXT)
    seq.append(10)
    seq.refit(Prompt((7,)), ROOM)
    seq.note_lease(CachedPrefix(num_reused=2), PrefixEnd.DROPPED)
    assert (seq.usage.num_prompt_tokens, seq.usage.num_cached_tokens) == (1, 1)


def test_a_pause_belongs_to_no_speed(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    seq = sequence()
    seq.submitted_at = now
    seq.note_lease(CachedPrefix(), PrefixEnd.NEW_CHAT)
    now = 102.0
    seq.paused_at = now
    now = 112.0
    seq.note_lease(CachedPrefix(), PrefixEnd.RESUMED)
    now = 113.0
    seq.append(10)
    assert (seq.usage.queue_s, seq.usage.prompt_s, seq.usage.time_to_first_token_s) == (10.0, 3.0, 13.0)
    seq.paused_at = now
    now = 120.0
    seq.note_lease(CachedPrefix(), PrefixEnd.RESUMED)
    now = 121.0
    seq.append(11)
    assert seq.usage.decode_s == 1.0
    assert seq.usage.time_to_first_token_s == 13.0


def test_it_ends_once_and_keeps_what_was_left_out():
    seq = sequence()
    seq.notice = "2 messages were left out."
    seq.finish(FinishReason.LENGTH, "The answer was cut.")
    assert seq.notice == "The answer was cut. 2 messages were left out."
    with pytest.raises(AssertionError, match="ends once"):
        seq.finish(FinishReason.STOP)


def test_the_state_of_a_slot_is_that_of_what_it_is_leased_to():
    slot = Slot(0)
    assert slot.state is SlotState.EMPTY
    seq = sequence()
    slot.leased_to, seq.slot = seq, slot
    assert slot.state is SlotState.PREFILL
    slot.token_ids += [1, 2, 3]
    seq.append(4)
    assert slot.state is SlotState.DECODE
    slot.leased_to = None
    assert slot.state is SlotState.WARM
