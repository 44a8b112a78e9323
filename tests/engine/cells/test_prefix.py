import pytest

from app.engine.cells.prefix import MIN_MOVED_TOKENS, common_prefix, moved_run

RUN = list(range(100, 100 + MIN_MOVED_TOKENS))


@pytest.mark.parametrize(
    ("held", "wanted", "length"),
    [
        ([], [1, 2], 0),
        ([1, 2, 3], [1, 2, 3], 2),
        ([1, 2], [1, 2, 3], 2),
        ([1, 9], [1, 2, 3], 1),
        ([1], [1], 0),
    ],
)
def test_common_prefix(held, wanted, length):
    assert common_prefix(held, wanted) == length


def test_a_run_behind_a_gap_is_found():
    assert moved_run([1, 2, 3, *RUN, 9], [1, *RUN, 5, 6], start=1) == (3, 3 + len(RUN))


def test_the_longest_run_counts():
    held = [1, 0, *RUN, 0, *RUN, 7, 8]
    begin = 2 + len(RUN) + 1
    assert moved_run(held, [1, *RUN, 7, 8, 9], start=1) == (begin, begin + len(RUN) + 2)


def test_a_short_run_is_not_worth_it():
    assert moved_run([1, 2, *RUN[1:]], [1, *RUN[1:], 5], start=1) == (1, 1)


def test_nothing_to_find():
    assert moved_run([1, 2, 3], [1, 4, 5], start=1) == (1, 1)
