import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.ui.answer_body import AnswerBody
from app.ui.code_block import CodeBlock
from app.ui.safe_browser import SafeBrowser

SOURCE = """Intro with **bold** words.

## A heading

1. one
2. two

   still two

```python
def f():
    return 1
```

| a | b |
|---|---|
| 1 | 2 |

> quoted

The end."""


@pytest.fixture
def frame(qtbot: QtBot) -> QWidget:
    frame = QWidget()
    qtbot.addWidget(frame)
    return frame


def whole(frame: QWidget, source: str) -> AnswerBody:
    body = AnswerBody(frame)
    body.show_whole(source)
    return body


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, len(SOURCE)), max_size=40))
def test_however_it_arrived_the_finished_answer_looks_the_same(frame: QWidget, cuts: list[int]) -> None:
    body = AnswerBody(frame)
    for cut in sorted(cuts):
        body.show_growing(SOURCE[:cut])
    body.show_whole(SOURCE)
    assert body.plain_text() == whole(frame, SOURCE).plain_text()


def test_while_it_grows_finished_blocks_are_not_touched(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing("one\n\n```py\nx = 1\n```\n\ntw")
    first, code, tail = body._parts
    body.show_growing("one\n\n```py\nx = 1\n```\n\ntwo\n\nthree")
    assert body._parts[:3] == [first, code, tail]
    assert tail.plain_text() == "two\nthree"


def test_prose_and_code_stand_in_their_own_views(frame: QWidget) -> None:
    body = whole(frame, SOURCE)
    assert [type(part).__base__ for part in body._parts] == [SafeBrowser, QWidget, SafeBrowser]


def test_code_is_shown_while_its_fence_is_still_open(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing("```python\nx = 1\ny")
    body.show_growing("```python\nx = 1\ny = 2")
    (code,) = body._parts
    assert code.plain_text() == "x = 1\ny = 2"


def test_a_half_written_fence_becomes_code_and_leaves_nothing_behind(frame: QWidget) -> None:
    body = AnswerBody(frame)
    for end in range(len("text\n\n```py\nx\n```") + 1):
        body.show_growing("text\n\n```py\nx\n```"[:end])
    assert [part.plain_text() for part in body._parts] == ["text", "x"]


def test_copy_gives_the_code_as_written(frame: QWidget, qapp: object) -> None:
    from PySide6.QtGui import QGuiApplication

    code = "if x:\n    " + "y" * 2000
    body = whole(frame, f"```py\n{code}\n```")
    (block,) = body._parts
    assert isinstance(block, CodeBlock)
    block._copy.click()
    assert QGuiApplication.clipboard().text() == code + "\n"


def test_the_copy_button_of_code_does_not_move_the_text(frame: QWidget) -> None:
    body = whole(frame, "```py\nx\n```")
    body.arrange(400)
    (block,) = body._parts
    text = block.findChild(QPlainTextEdit)
    assert text
    before = text.geometry()
    block._copy.click()
    assert text.geometry() == before


def test_a_text_that_is_not_a_continuation_is_drawn_anew(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing("one\n\ntwo")
    body.show_growing("three")
    assert body.plain_text() == "three"


def test_long_answers_are_split_into_panes_and_stay_whole(frame: QWidget) -> None:
    source = "\n\n".join(f"paragraph {n} " + "word " * 60 for n in range(60))
    body = AnswerBody(frame)
    for end in range(0, len(source), 997):
        body.show_growing(source[:end])
    body.show_whole(source)
    assert len(body._parts) > 2
    assert all(f"paragraph {n} " in body.plain_text() for n in range(60))
