from hypothesis import given, settings
from hypothesis import strategies as st

from app.inspector.parting import AROUND, Parting, around_parting, part, pieces_of, words_of


def test_two_texts_part_at_the_first_token_that_differs() -> None:
    one, other = words_of("The capital is Paris."), words_of("The capital is Lyon, of course.")
    assert part(one, other) == Parting(3, len("The capital is"), " Paris.", " Lyon,")
    assert part(one, one[:2]) == Parting(2, len("The capital"), " is", None)
    assert part(one, one).is_same


def test_tokens_of_half_a_character_are_one_piece() -> None:
    assert pieces_of("a€b", [b"a", b"\xe2\x82", b"\xac", b"b"]) == ["a", "€", "b"]
    assert pieces_of("a b", [b"c"]) == ["a", " b"], "those of another text"


@settings(max_examples=30)
@given(st.text(), st.text(), st.text())
def test_what_is_cut_away_is_the_same_in_both(common: str, one: str, other: str) -> None:
    begin, mine, its = around_parting(common + one, common + other)
    assert (common + one)[:begin] == (common + other)[:begin]
    assert len(mine) <= len(common + one)
    place = part(common + one, common + other).num_common
    assert begin <= place
    assert mine == (common + one)[begin : place + AROUND]
    assert its == (common + other)[begin : place + AROUND]
