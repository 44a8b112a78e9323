from app.inspector.step_view import rows_text, times_of
from tests.inspector.reports import decoding, report, span


def test_rows_are_told_for_each_sequence_of_the_batch() -> None:
    assert rows_text((span(1), span(2, 1200))) == "seq 1: 1   seq 2: 1,200"


def test_the_three_times_of_a_step_carry_their_names_and_unit() -> None:
    assert times_of(report(1, decoding(0, "sums"))) == (
        ("schedule", "0.1 ms"),
        ("decode", "38.0 ms"),
        ("update", "0.4 ms"),
    )
