import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.ui.base.long_text_box import PART_BYTES, part_starts
from app.ui.message.long_text import LongText

BOOK = "".join(f"line {n} of the book\n" for n in range(3000))


@pytest.fixture
def text(qtbot: QtBot) -> LongText:
    ground = QWidget()
    qtbot.addWidget(ground)
    text = LongText(ground)
    text.ground = ground  # type: ignore[attr-defined]
    return text


def shown(text: LongText) -> str:
    return text._text.toPlainText()


@pytest.mark.parametrize("length", [0, 1, PART_BYTES])
def test_what_is_not_long_is_one_part(length: int) -> None:
    assert part_starts("x" * length) == [0]


def test_one_endless_line_is_cut_where_it_must_be() -> None:
    assert part_starts("x" * (2 * PART_BYTES + 1)) == [0, PART_BYTES, 2 * PART_BYTES]


def test_letters_of_other_scripts_count_their_bytes() -> None:
    assert part_starts("\u4e00" * 6_001) == [0, 2_000, 4_000, 6_000]
    assert part_starts("\U0001f600" * 2_000) == [0, 1_500]
    assert part_starts("\u00e9a" * 3_000) == [0, 4_000]


def test_data_in_one_line_makes_large_parts() -> None:
    data = json.dumps(
        {f"key {number}": [number, {"name": "a value", "is_set": True}] for number in range(300)}
    )
    assert part_starts(data) == list(range(0, len(data), PART_BYTES))


def test_parts_begin_with_a_line() -> None:
    starts = part_starts(BOOK)
    assert len(starts) > 2
    assert all(BOOK[start - 1] == "\n" for start in starts[1:])


def test_many_short_lines_make_small_parts() -> None:
    assert max(len(part) for part in parts_of("\n" * 100_000)) < 1_000


def parts_of(source: str) -> list[str]:
    starts = part_starts(source)
    return [source[begin:end] for begin, end in zip(starts, [*starts[1:], len(source)], strict=True)]


@given(st.text(alphabet="ab\n ", max_size=200), st.integers(1, 400))
def test_parts_together_are_the_text(piece: str, times: int) -> None:
    source = piece * times
    assert "".join(parts_of(source)) == source
    assert all(0 < len(part) <= PART_BYTES for part in parts_of(source)[1:])


def test_a_long_text_is_shown_a_part_at_a_time(text: LongText) -> None:
    text.show_text(BOOK)
    text.arrange(500)
    assert shown(text) == parts_of(BOOK)[0]
    assert text.stepper.count.text() == f"Part 1 of {text.num_parts}"
    assert not text.stepper.previous.isEnabled()
    text.stepper.next.click()
    assert shown(text) == parts_of(BOOK)[1]
    for _ in range(text.num_parts):
        text.stepper.next.click()
    assert text.part == text.num_parts - 1
    assert not text.stepper.next.isEnabled()


def test_a_match_brings_its_part(text: LongText) -> None:
    text.show_text(BOOK)
    number = BOOK.lower().count("line", 0, part_starts(BOOK)[1])
    text.show_match("LINE", number)
    assert text.part == 1


@pytest.mark.parametrize(
    ("source", "is_wide"), [("i" * 200, False), ("many words " * 40, True), ("i\n" * 400, False)]
)
def test_a_text_takes_all_of_the_width_only_if_it_has_a_line_that_needs_it(
    text: LongText, source: str, is_wide: bool
) -> None:
    text.show_text(source)
    text.arrange(700)
    assert (text.width() == 700) is is_wide


def test_a_short_text_takes_no_more_room_than_it_needs(text: LongText) -> None:
    text.show_text("Hi")
    text.arrange(500)
    assert text.width() < 100
    assert not text.stepper.isVisibleTo(text)


def test_files_stand_above_the_words_and_can_be_opened(text: LongText, qtbot: QtBot) -> None:
    text.show_text("What is in it?", ["<b>report</b>.pdf"])
    text.arrange(500)
    (button,) = text.files
    assert button.text() == "<b>report</b>.pdf"
    assert button.accessibleName() == "File: <b>report</b>.pdf"
    assert button.geometry().bottom() < text._text.y()
    with qtbot.waitSignal(text.file_clicked) as clicked:
        button.click()
    assert clicked.args == [0, button]


def test_a_file_alone_needs_no_words(text: LongText) -> None:
    text.show_text("", ["report.pdf"])
    assert text.arrange(500) > 10
    assert not text._text.isVisibleTo(text)
