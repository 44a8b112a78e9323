from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.ui.message.code_block import CodeBlock
from app.ui.message.markdown_column import MAX_BEYOND, MarkdownColumn, discard
from app.ui.message.safe_browser import SafeBrowser
from app.ui.message.slices import SLICE, slices


def test_a_long_line_of_code_that_grows_is_drawn_once_in_a_slice(
    qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    show_block = CodeBlock.show_block
    monkeypatch.setattr(
        CodeBlock, "show_block", lambda self, block: (drawn.append(len(block.code)), show_block(self, block))
    )
    page = QWidget()
    qtbot.addWidget(page)
    column = MarkdownColumn(page)
    column.height_changed.connect(lambda: column.arrange(500))
    column.show_whole("```python\n" + "x = (" * 18_000)
    while slices().num_waiting:
        num_before = len(drawn)
        qapp.processEvents()
        assert drawn[-1] < 50_000 or len(drawn) - num_before <= 1
    assert len(drawn) > 10


def test_of_a_page_that_is_discarded_one_text_goes_in_each_turn(qtbot: QtBot, qapp: QApplication) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.show()
    column = MarkdownColumn(page)
    column.show_whole("|a|\n|-|\n|b|\n\n```\nx\n```\n\n" * 20)
    while slices().num_waiting:
        qapp.processEvents()
    discard(page)
    assert page.isHidden()
    num_left = [len(page.findChildren(SafeBrowser))]
    while isValid(page):
        qapp.processEvents()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        num_left.append(len(page.findChildren(SafeBrowser)) if isValid(page) else 0)
    assert num_left[0] == 20
    assert all(before - after <= 1 for before, after in pairwise(num_left))


def test_a_text_that_is_still_being_read_is_not_read_on_once_it_is_discarded(
    qtbot: QtBot, qapp: QApplication
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = MarkdownColumn(page)
    column.show_whole("words, words\n\n" * 3_000)
    assert slices().num_waiting
    discard(page)
    work = slices().work
    qtbot.waitUntil(lambda: slices().num_waiting == 0)
    assert slices().work == work


@pytest.mark.parametrize(
    ("letters", "share"),
    [("a\u0411", 0.3), ("\u0411\u03b1", 0.3), ("\u4eca\u5929", 0.6), ("\U0001f44d", 0.6), ("\ud55c", 0.6)],
)
def test_what_costs_more_to_draw_has_shorter_panes(qtbot: QtBot, letters: str, share: float) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = MarkdownColumn(page)

    def longest(source: str) -> int:
        column.show_whole(source)
        column.finish()
        return max(len(part.plain_text()) for part in column.parts)

    assert longest(letters * (10_000 // len(letters))) < share * longest("words " * 1_666)
    assert longest(("слово и дело " + letters + " ") * 600) > 1_200


def test_a_step_that_does_not_half_fit_in_a_slice_waits_for_the_next(
    qtbot: QtBot, qapp: QApplication
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = MarkdownColumn(page)
    column.arrange(500)
    begin = slices().work
    column.show_whole("words, words " * 1_500)
    work = [slices().work - begin]
    while slices().num_waiting:
        begin = slices().work
        qapp.processEvents()
        work.append(slices().work - begin)
    heaviest = max(part.weight for part in column._parts)
    # Drawing it, half of which fits, and laying it out.
    assert max(work) <= SLICE + (1 + MAX_BEYOND) * heaviest
    assert not column._has_more
