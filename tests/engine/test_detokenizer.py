from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.engine.detokenizer import Detokenizer


def pieces(*parts: bytes):
    return lambda index: parts[index]


def feed(text: bytes, cuts: list[int], stop: tuple[str, ...]) -> tuple[str, bool]:
    """Send `text` cut at these places and collect what is shown."""
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    parts = [text[a:b] for a, b in pairwise(edges)]
    detokenizer = Detokenizer(pieces(*parts), stop)
    shown = ""
    for index in range(len(parts)):
        shown += detokenizer.add(index)
        if detokenizer.stopped:
            return shown, True
    return shown + detokenizer.flush(), detokenizer.stopped


def test_a_character_split_across_tokens_appears_once_and_whole():
    detokenizer = Detokenizer(pieces("ä🙂".encode()[:1], "ä🙂".encode()[1:4], "ä🙂".encode()[4:]))
    assert [detokenizer.add(0), detokenizer.add(1), detokenizer.add(2)] == ["", "ä", "🙂"]


def test_of_an_unfinished_character_at_the_end_nothing_is_shown():
    for end in (b"\xf0", b"\xf0\x9f", b"\xf0\x9f\x99", b"\xc3"):
        detokenizer = Detokenizer(pieces(b"ok " + end), ("never",))
        assert detokenizer.add(0) + detokenizer.flush() == "ok "


def test_bytes_that_no_character_has_are_shown_as_damaged():
    detokenizer = Detokenizer(pieces(b"ok \xff", b"\xf0\x9f", b"!"))
    assert "".join(map(detokenizer.add, range(3))) == "ok \ufffd\ufffd!"


def test_nothing_of_a_stop_string_is_shown():
    detokenizer = Detokenizer(pieces(b"one E", b"N", b"D two"), ("END",))
    assert [detokenizer.add(0), detokenizer.add(1), detokenizer.add(2)] == ["one ", "", ""]
    assert detokenizer.stopped
    assert detokenizer.flush() == ""


def test_what_only_looked_like_a_stop_string_is_shown_after_all():
    detokenizer = Detokenizer(pieces(b"a E", b"N", b"T"), ("END",))
    assert detokenizer.add(0) + detokenizer.add(1) + detokenizer.add(2) == "a ENT"
    assert not detokenizer.stopped


def test_a_held_back_tail_is_flushed_at_the_end():
    detokenizer = Detokenizer(pieces(b"a EN"), ("END",))
    assert detokenizer.add(0) == "a "
    assert detokenizer.flush() == "EN"


def test_what_came_before_is_not_told_but_for_the_character_it_broke_off_in():
    detokenizer = Detokenizer(pieces("a ä".encode()[:3], "ä!".encode()[1:]), ("ä",))
    detokenizer.skip(0)
    assert (detokenizer.add(1), detokenizer.stopped) == ("", True)
    detokenizer = Detokenizer(pieces(b"a EN", b"D"), ("END",))
    detokenizer.skip(0)
    assert detokenizer.add(1) + detokenizer.flush() == "D"


def test_the_stop_string_that_comes_first_is_the_one_that_stopped():
    detokenizer = Detokenizer(pieces(b"a E", b"ND."), ("never", "D.", "END"))
    assert detokenizer.add(0) == "a "
    assert detokenizer.stopping_word == ""
    assert (detokenizer.add(1), detokenizer.stopping_word) == ("", "END")


texts = st.text(alphabet="abEND\nä🙂", max_size=30)
stops = st.lists(st.text(alphabet="ENDab", min_size=1, max_size=4), max_size=3).map(tuple)


@given(texts, st.lists(st.integers(0, 200)), stops)
def test_any_split_into_tokens_shows_the_same_text(text, cuts, stop):
    ends = [at for at in (text.find(one) for one in stop) if at >= 0]
    assert feed(text.encode(), cuts, stop)[1] == bool(ends)
    if not ends:
        assert feed(text.encode(), cuts, stop)[0] == text


@given(texts, st.lists(st.integers(0, 200)), stops)
def test_text_after_a_stop_string_is_never_shown(text, cuts, stop):
    shown, stopped = feed(text.encode(), cuts, stop)
    if stopped:
        assert text.startswith(shown)
        assert not any(one in shown for one in stop)


def test_a_stop_string_that_has_nothing_in_common_costs_one_look():
    """64 of them, a thousand characters each, are looked at with every token."""

    class Looked(str):
        __slots__ = ()
        num_looks = 0

        def __getitem__(self, key):
            Looked.num_looks += 1
            return super().__getitem__(key)

    detokenizer = Detokenizer(pieces(*[b"a"] * 900), ("a" * 1000, Looked("b" * 1000)))
    assert "".join(map(detokenizer.add, range(900))) == ""
    assert Looked.num_looks <= 2 * 900
