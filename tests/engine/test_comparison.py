import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.comparison import places_of, windows_of


@given(st.data())
def test_each_token_counts_once_after_half_a_window(data: st.DataObject) -> None:
    size = 2 * data.draw(st.integers(2, 20))
    num_tokens = data.draw(st.integers(2, 200))
    first = data.draw(st.integers(1, num_tokens - 1))
    windows = windows_of(num_tokens, first, size)
    counted = [token for window in windows for token in range(window.first, window.end)]
    assert counted == list(range(first, num_tokens))
    for window in windows:
        assert window.end - window.begin <= size
        assert window.begin == 0 or window.first - window.begin >= size // 2


def test_a_place_has_divergence_ranks_and_choices_of_both() -> None:
    base = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]], np.float32))
    other = np.log(np.array([[0.25, 0.25, 0.5], [0.1, 0.8, 0.1]], np.float32)) + 7
    first, second = places_of([base], [other], [0, 2])
    assert first.kl == pytest.approx(0.5 * np.log(2) - 0.25 * np.log(2))
    assert first.logprobs == pytest.approx((np.log(0.5), np.log(0.25)))
    assert (first.ranks, first.greedy_ids) == ((1, 2), (0, 2))
    assert second.kl == pytest.approx(0, abs=1e-7)
    assert second.ranks == (2, 2)


def test_padding_and_tokens_that_are_ruled_out_are_no_difference() -> None:
    base = np.array([[1, 2, -np.inf, 3]], np.float32)
    other = np.array([[1, 2, -np.inf, 3, 50, 60]], np.float32)
    (place,) = places_of([base], [other], [1])
    assert place.kl == 0
    assert place.ranks == (2, 2)
    assert place.greedy_ids == (3, 3)


def test_two_of_different_lengths_are_our_mistake() -> None:
    rows = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="shorter"):
        list(places_of([rows], [rows[:1]], [0, 1]))
