import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.base.fuzzy import FuzzyMatch, fit, fit_whole, fold

NAMES = ["New chat", "Close chat", "Next tab", "Fork chat", "Theme: Dark", "Token probabilities", "Zoom in"]


def best(query: str) -> str:
    found = [(how.score, name) for name in NAMES if (how := fit(query, name))]
    return max(found)[1]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("new", "New chat"),
        ("nc", "New chat"),
        ("chat new", "New chat"),
        ("dark", "Theme: Dark"),
        ("frk", "Fork chat"),
        ("TOKEN", "Token probabilities"),
        ("nt", "Next tab"),
        ("clo", "Close chat"),
    ],
)
def test_a_few_letters_find_what_is_meant(query: str, name: str) -> None:
    assert best(query) == name


def test_the_start_of_a_word_is_better_than_its_middle_and_that_than_scattered_letters() -> None:
    start, middle, scattered = fit("art", "Art of war"), fit("art", "Start"), fit("art", "A red tie")
    assert start
    assert middle
    assert scattered
    assert start.score > middle.score > scattered.score


def test_letters_anywhere_do_not_fit() -> None:
    assert fit("stop", "Sums of the year") is None
    assert fit("xyz", "Fork chat") is None
    assert fit("chats", "New chat") is None


def test_it_is_told_which_letters_were_meant() -> None:
    assert fit("nc", "New chat") == FuzzyMatch(fit("nc", "New chat").score, frozenset({0, 4}))  # type: ignore[union-attr]
    assert fit("chat", "New chat").places == {4, 5, 6, 7}  # type: ignore[union-attr]


def test_a_script_without_blanks_is_found_at_every_sign() -> None:
    assert fit("主题", "深色主题")
    assert fit_whole("主题", "深色主题")


def test_letters_that_grow_when_they_get_small_keep_their_places() -> None:
    name = "İstanbul plan"
    assert len(fold(name)) == len(name)
    assert fit("plan", name).places == {9, 10, 11, 12}  # type: ignore[union-attr]


@given(st.text(max_size=30), st.text(max_size=60))
def test_places_are_always_letters_of_the_name(query: str, name: str) -> None:
    found = fit(query, name)
    if found:
        assert all(0 <= place < len(name) for place in found.places)
        typed = set(fold(query))
        assert all(fold(name)[place] in typed for place in found.places)
