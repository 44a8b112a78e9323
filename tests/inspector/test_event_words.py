"""Each event of the engine has its sentence."""

from typing import get_args

import pytest

from app.inspector.event_words import words
from app.protocol.events import (
    BrokenOff,
    Cleared,
    Disagreed,
    Encoded,
    Event,
    EventKind,
    Evicted,
    Forked,
    Hibernated,
    Leased,
    NotCleared,
    NotHibernated,
    NotRestored,
    Paused,
    PauseReason,
    Pinned,
    Released,
    Restored,
    Resumed,
    Shared,
    Shifted,
    Shortened,
    StateDropped,
    StateLost,
    StateUnusable,
    Told,
    ToolRan,
    Triggered,
    Verified,
)

SENTENCES: dict[Event, str] = {
    Told(EventKind.NATIVE, "cudaMalloc failed", 1, "c"): "cudaMalloc failed",
    Leased(1, "c", 20, 3): "began in sequence 1: 20 tokens cached, 3 to compute",
    Resumed(1, "c", 20, 3): "resumed sequence 1: 20 tokens cached, 3 to compute",
    Released(1, "c", 20, is_kept=True): "released sequence 1, kept 20 tokens",
    Released(1, "c", 20, is_kept=False): "released sequence 1, freed 20 tokens",
    Shared(1, "c", 0, 9, is_copied=False): "shared 9 cells of sequence 0 with sequence 1",
    Shared(1, "c", 0, 9, is_copied=True): "copied 9 cells of sequence 0 to sequence 1",
    Forked(1, "c", 0, 9): "forked sequence 0 to 1, sharing 9 cells",
    Hibernated(1, "c", 20): "hibernated sequence 1: 20 tokens",
    NotHibernated(None, "c"): "not hibernated: this chat holds no cells",
    NotHibernated(None, "c", is_answering=True): "not hibernated: this chat is answering",
    NotHibernated(1, "c"): "not hibernated: the state of sequence 1 cannot be saved right now",
    Evicted(1, "c", 20): "evicted sequence 1: 20 tokens",
    StateLost(None, "c", 20): "dropped a saved state of 20 tokens: no room",
    Restored(1, "c", 20): "restored sequence 1: 20 tokens",
    NotRestored(None, "c", is_saved=True): ("not restored: running answers leave no room"),
    NotRestored(None, "c", is_saved=False): "not restored: this chat has no saved cells",
    StateUnusable(1, "c"): "the saved state of sequence 1 could not be used; recomputing",
    Cleared(1, "c", 20): "cleared sequence 1: 20 tokens",
    StateDropped(None, "c", 20): "dropped a saved state of 20 tokens",
    NotCleared(None, "c", is_answering=True): "not cleared: this chat is answering",
    NotCleared(None, "c", is_answering=False): "not cleared: this chat holds no cells",
    Shifted(1, "c", 50, 40): "shifted 50 cells of sequence 1 down by 40",
    Pinned(1, "c", is_pinned=True): "pinned sequence 1",
    Pinned(1, "c", is_pinned=False): "unpinned sequence 1",
    Pinned(None, "c", is_pinned=True): "pinned a chat without a slot",
    Pinned(None, "c", is_pinned=False): "unpinned a chat without a slot",
    Paused(1, "c", PauseReason.FRONT): "paused the answer in sequence 1: the current tab goes first",
    Paused(1, "c", PauseReason.TURNS): "paused the answer in sequence 1: another program takes its turn",
    Paused(1, "c", PauseReason.NO_CELLS): "paused the answer in sequence 1: no free cells",
    BrokenOff(1, "c", 7): "aborted the answer in sequence 1 after 7 tokens",
    BrokenOff(None, "c", 7): "aborted an answer without a slot after 7 tokens",
    Shortened(None, "c", "2 turns were left out"): "shortened a prompt: 2 turns were left out",
    Triggered(1, "c", 7): "the grammar applies to the answer in sequence 1 from token 7 on",
    ToolRan(1, "c", "calculator", 1.25): "the tool calculator ran for 1.25 s",
    Encoded(None, "c", "ab", 24, 0.0): "reused the encoding of a picture or sound of 24 cells",
    Encoded(None, "c", "ab", 24, 12.5): "encoded a picture or sound of 24 cells in 12 ms",
    Verified(None, None, 9): "llama.cpp agrees: compared 9 cells",
    Verified(None, None, None): "llama.cpp agrees: compared positions; this model has no KV cells",
    Disagreed(None, None, "cell 3"): "llama.cpp disagrees: cell 3",
}


@pytest.mark.parametrize("event", SENTENCES, ids=str)
def test_an_event_is_told_in_words(event: Event) -> None:
    assert words(event) == SENTENCES[event]


def test_every_event_has_a_sentence_and_a_kind() -> None:
    assert {type(event) for event in SENTENCES} == set(get_args(Event))
    assert {event.kind for event in SENTENCES} == set(EventKind) - {EventKind.DRAFT, EventKind.CONNECTION}
