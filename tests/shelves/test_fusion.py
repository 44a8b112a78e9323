from app.shelves.fusion import fused


def test_what_both_name_comes_first_and_nothing_is_lost():
    assert fused([[1, 2, 3], [4, 2, 5]]) == (2, 1, 4, 3, 5)


def test_one_order_alone_stays_as_it_is():
    assert fused([[3, 1, 2]]) == fused([[3, 1, 2], []]) == (3, 1, 2)
