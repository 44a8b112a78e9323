import pytest
from PySide6.QtCore import QLocale

from app.look.figures import count, milliseconds, percent, percents, rate, seconds


def test_thousands_are_set_apart() -> None:
    assert count(1234567) == "1,234,567"


@pytest.mark.parametrize(
    ("speed", "text"), [(0.0, "0 tok/s"), (9.94, "9.9 tok/s"), (41.4, "41 tok/s"), (1234.5, "1,234 tok/s")]
)
def test_speed_has_a_decimal_only_below_ten(speed: float, text: str) -> None:
    assert rate(speed) == text


@pytest.mark.parametrize(
    ("part", "text"), [(0, "0%"), (0.4, "<1%"), (61.4, "61%"), (61.6, "62%"), (99.9, "99%"), (100, "100%")]
)
def test_only_what_is_complete_is_100_percent(part: float, text: str) -> None:
    assert percent(part, 100) == text


@pytest.mark.parametrize(
    ("parts", "texts"),
    [
        ((44, 4), ["92%", "8%"]),
        ((1001, 53, 2), ["95%", "5%", "<1%"]),
        ((1, 1, 1), ["34%", "33%", "33%"]),
        ((997, 2, 1), ["99%", "<1%", "<1%"]),
        ((9999, 1), ["99%", "<1%"]),
        ((7, 0), ["100%", "0%"]),
        ((0, 0), ["0%", "0%"]),
    ],
)
def test_shares_of_one_whole_add_up(parts: tuple[int, ...], texts: list[str]) -> None:
    assert percents(*parts) == texts


def test_a_share_of_nothing_is_nothing() -> None:
    assert percent(0, 0) == "0%"


def test_times_carry_their_unit() -> None:
    assert seconds(0.034) == "0.03 s"
    assert seconds(0.14) == "0.1 s"
    assert seconds(1234) == "1,234 s"
    assert milliseconds(38.04) == "38.0 ms"
    assert milliseconds(1234.5) == "1,234 ms"


def test_numbers_are_written_as_the_language_does_it(qapp: object) -> None:
    former = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    try:
        assert count(1234567) == "1.234.567"
        assert rate(9.94) == "9,9 tok/s"
        assert milliseconds(1234.5) == "1.234 ms"
    finally:
        QLocale.setDefault(former)
