"""Whose turn it is."""

from app.protocol.request import Caller, by_turn, owes

A, B, C = Caller("a", "1"), Caller("a", "2"), Caller("c", "1")


def in_order(waiting: list[Caller], served: list[Caller]) -> list[Caller]:
    return by_turn(waiting, served, lambda caller: caller)


def test_programs_take_turns_and_within_them_connections():
    assert in_order([A, A, A, B, C], []) == [A, C, B, A, A]


def test_who_is_served_already_comes_later():
    assert in_order([A, C], [A]) == [C, A]
    assert in_order([A, B], [A]) == [B, A]
    assert in_order([A, C], [C, C]) == [A, C]


def test_one_caller_alone_is_served_in_order():
    waiting = [(A, number) for number in range(5)]
    assert by_turn(waiting, [A, A], lambda one: one[0]) == waiting


def test_nobody_gives_a_place_away_who_would_then_have_less():
    assert owes(A, C, [A, A])
    assert not owes(A, C, [A])
    assert not owes(A, C, [A, A, C])
    assert owes(A, B, [A, A])
    assert not owes(A, C, [A, B, C])  # of the two programs each has its share
