import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.bridge.tab_row import TabRow
from tests.effort import EFFORT


def row_of(names: str, current: str = "") -> TabRow[str]:
    row: TabRow[str] = TabRow()
    for index, name in enumerate(names):
        row.insert(name, index)
    row.set_current(current or names[0])
    return row


def order(row: TabRow[str]) -> str:
    return "".join(row.tabs)


def test_a_pinned_tab_stands_left_of_all_others_and_goes_back_to_their_beginning() -> None:
    row = row_of("abcd")
    assert row.set_pinned("c", True) == 0
    assert row.set_pinned("d", True) == 1
    assert order(row) == "cdab"
    assert row.set_pinned("c", False) == 1
    assert (order(row), row.pinned) == ("dcab", ("d",))


def test_no_tab_is_moved_or_put_across_the_end_of_the_pinned_ones() -> None:
    row = row_of("abcd")
    row.set_pinned("a", True)
    assert row.move("d", 0) == 1
    assert row.move("a", 3) == 0
    assert row.insert("e", 0) == 1
    assert order(row) == "aedbc"


@pytest.mark.parametrize(("closes", "then_current"), [("a", "b"), ("b", "c"), ("c", "b")])
def test_the_neighbour_of_a_closed_tab_becomes_current(closes: str, then_current: str) -> None:
    row = row_of("abc", current=closes)
    row.remove(closes)
    assert row.current == then_current


def test_closing_a_pinned_tab_leaves_one_pinned_tab_fewer() -> None:
    row = row_of("abc")
    row.set_pinned("a", True)
    row.remove("a")
    assert row.pinned == ()


class TestSplit:
    def test_the_dragged_tab_is_on_the_right_and_current(self) -> None:
        row = row_of("abc", current="a")
        row.show_beside("c")
        assert (row.shown, row.current, row.beside) == (("a", "c"), "c", "a")

    def test_the_current_tab_leaves_its_neighbour_on_the_left(self) -> None:
        row = row_of("abc", current="c")
        row.show_beside("c")
        assert row.shown == ("b", "c")

    def test_a_tab_alone_cannot_be_split(self) -> None:
        row = row_of("a")
        row.show_beside("a")
        assert row.shown == ("a",)

    def test_another_tab_is_shown_on_the_current_side(self) -> None:
        row = row_of("abc", current="a")
        row.show_beside("b")
        row.set_current("a")
        row.set_current("c")
        assert (row.shown, row.current) == (("c", "b"), "c")

    def test_choosing_the_tab_beside_only_moves_the_focus(self) -> None:
        row = row_of("abc", current="a")
        row.show_beside("b")
        row.set_current("a")
        assert (row.shown, row.current) == (("a", "b"), "a")

    def test_showing_the_left_one_beside_changes_the_sides(self) -> None:
        row = row_of("ab", current="a")
        row.show_beside("b")
        row.show_beside("a")
        assert (row.shown, row.current) == (("b", "a"), "a")

    @pytest.mark.parametrize("closed", ["a", "b"])
    def test_closing_one_leaves_the_other_alone(self, closed: str) -> None:
        row = row_of("abc", current="a")
        row.show_beside("b")
        row.remove(closed)
        assert row.shown == (row.current,) == ("b" if closed == "a" else "a",)

    def test_ending_it_keeps_the_current_one(self) -> None:
        row = row_of("ab", current="a")
        row.show_beside("b")
        row.end_split()
        assert row.shown == ("b",)


class TestOut:
    def test_a_tab_that_is_out_keeps_its_place_and_its_neighbour_is_shown(self) -> None:
        row = row_of("abc", current="b")
        row.take_out("b")
        assert (order(row), row.shown, row.current) == ("abc", ("c",), "c")
        row.put_back("b")
        row.set_current("b")
        assert (order(row), row.shown) == ("abc", ("b",))

    def test_it_is_nobodys_neighbour(self) -> None:
        row = row_of("abc", current="a")
        row.take_out("b")
        assert row.next_to("a") == "c"
        row.remove("a")
        assert row.current == "c"

    def test_without_another_none_is_current(self) -> None:
        row = row_of("a")
        row.take_out("a")
        assert (row.shown, row.current) == ((), None)

    def test_once_it_is_closed_it_is_out_no_longer(self) -> None:
        row = row_of("ab")
        row.take_out("a")
        row.remove("a")
        row.insert("a", 0)
        assert not row.is_out("a")


_CALLS = st.tuples(
    st.sampled_from(["insert", "remove", "move", "pin", "unpin", "current", "beside", "end", "out", "back"]),
    st.integers(0, 9),
    st.integers(0, 9),
)


@settings(max_examples=60 * EFFORT)
@given(st.lists(_CALLS, max_size=40))
def test_whatever_is_done_the_row_stays_in_order(calls: list[tuple[str, int, int]]) -> None:
    row: TabRow[int] = TabRow()
    for number, (call, which, index) in enumerate(calls):
        tab = row.tabs[which % len(row.tabs)] if row.tabs else None
        if call == "insert":
            row.insert(number, index)
            if row.current is None:
                row.set_current(number)
        elif call == "end":
            row.end_split()
        elif tab is not None:
            match call:
                case "remove":
                    row.remove(tab)
                case "move":
                    at = row.move(tab, index)
                    assert row.tabs[at] == tab
                case "back":
                    row.put_back(tab)
                    if row.current is None:
                        row.set_current(tab)
                case "current" | "beside" | "out" if row.is_out(tab):
                    pass
                case "current":
                    row.set_current(tab)
                case "beside":
                    row.show_beside(tab)
                case "out":
                    row.take_out(tab)
                case _:
                    at = row.set_pinned(tab, call == "pin")
                    assert row.tabs[at] == tab
        assert len(set(row.tabs)) == len(row.tabs)
        here = {tab for tab in row.tabs if not row.is_out(tab)}
        assert set(row.shown) <= here
        assert len(row.shown) == len(set(row.shown)) <= 2
        assert (row.current in row.shown) if here else row.current is None
        assert all(row.is_pinned(one) for one in row.pinned)
