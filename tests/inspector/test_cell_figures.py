import pytest

from app.inspector.cell_figures import NO_BREAK, cell_text, figures_of, figures_text, sequence_titles
from tests.inspector.cell_maps import cell_map, report_with

X, _ = (0,), ()


def figures(*holders, num_shared=0, num_streams=1, high_water=0):
    return figures_of(cell_map(list(holders), high_water=high_water), num_shared, num_streams)


@pytest.mark.parametrize(
    ("holders", "num_gaps", "fragmentation"),
    [
        ((_, _, _, _), 0, 0.0),
        ((X, X, _, _), 0, 0.0),
        ((X, X, X, X), 0, 0.0),
        ((_, _, _, X), 1, 0.75),
        ((X, _, X, _), 1, 1 / 3),
        ((_, X, _, X), 2, 0.5),
    ],
)
def test_fragmentation_is_the_share_of_free_cells_up_to_the_highest_used(holders, num_gaps, fragmentation):
    found = figures(*holders)
    assert (found.num_gaps, found.fragmentation) == (num_gaps, pytest.approx(fragmentation))


def test_each_stream_has_a_highest_cell_of_its_own():
    found = figures(X, _, _, _, X, _, num_streams=2)
    assert (found.num_in_reach, found.num_gaps) == (1 + 2, 1)


def test_they_add_up_and_are_told_in_words():
    found = figures((0, 1), X, _, X, _, num_shared=1, high_water=4)
    assert found.num_used + found.num_free == found.num_total == 5
    assert figures_text(found).replace(NO_BREAK, " ") == (
        "3 cells used · 2 free of 5 · 1 shared (33% of used) · fragmentation 25% (1 gap) · high water 4"
    )


def test_a_cell_in_words():
    cells = cell_map([(), (0,), (0, 2)])
    titles = {0: "Sums", 2: "Fork of Sums"}
    assert cell_text(cells, 0, {}, titles) == "cell 0 · free"
    assert cell_text(cells, 1, {}, titles) == "cell 1 · position 0 · token 100 · seq 0 Sums"
    assert cell_text(cells, 2, {101: b" the"}, titles) == (
        "cell 2 · position 1 · token 101 “␣the” · seq 0 Sums, seq 2 Fork of Sums"
    )


def test_titles_are_those_of_sequences_that_hold_cells():
    report = report_with(cell_map([(0,), (2,), ()]))
    assert sequence_titles(report, {"sums": "Sums", "notes": "Notes"}) == {0: "Sums", 2: "closed chat"}
