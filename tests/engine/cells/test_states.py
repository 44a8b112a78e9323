"""Checkpoints in, the same checkpoints out; of other bytes none."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.engine.cells.checkpoints import packed, places_in, unpacked


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
