from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.ui.base.frame_budget import frame_budget
from app.ui.message.code_block import CodeBlock
from app.ui.message.growing_markdown import GrowingMarkdown
from app.ui.message.markdown_column import MarkdownColumn, discard
from app.ui.message.safe_browser import SafeBrowser


@pytest.mark.usefixtures("short_frames")
def test_a_long_line_of_code_that_grows_is_drawn_once_in_a_frame(
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
    while frame_budget().num_waiting:
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
    while frame_budget().num_waiting:
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


@pytest.mark.usefixtures("short_frames")
def test_a_text_that_is_still_being_read_is_not_read_on_once_it_is_discarded(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = MarkdownColumn(page)
    column.show_whole("words, words\n\n" * 3_000)
    assert frame_budget().num_waiting
    discard(page)
    monkeypatch.setattr(GrowingMarkdown, "read_on", lambda _reader: pytest.fail("it is gone"))
    qtbot.waitUntil(lambda: frame_budget().num_waiting == 0)
