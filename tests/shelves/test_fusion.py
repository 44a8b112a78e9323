from app.shelves.finder import fused


def test_what_both_name_comes_first_and_nothing_is_lost():
    assert fused([(1, [1, 2, 3]), (1, [4, 2, 5])]) == (2, 1, 4, 3, 5)


def test_an_order_without_weight_comes_behind_the_others():
    assert fused([(0, [1, 2, 3]), (1, [4, 2, 5])]) == (4, 2, 5, 1, 3)
    assert fused([(1, [3, 1, 2]), (0, [])]) == (3, 1, 2)
