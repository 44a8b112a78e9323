import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.chats.thinking import split_thinking
from app.ui.base.frame_budget import frame_budget
from app.ui.message.answer_body import AnswerBody
from app.ui.message.code_block import CodeBlock
from app.ui.message.markdown_column import MAX_PARTS
from app.ui.message.prose_pane import ProsePane

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
    body.show_whole(split_thinking(source))
    return body


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, len(SOURCE)), max_size=40))
def test_however_it_arrived_the_finished_answer_looks_the_same(frame: QWidget, cuts: list[int]) -> None:
    body = AnswerBody(frame)
    for cut in sorted(cuts):
        body.show_growing(split_thinking(SOURCE[:cut], is_growing=True))
    body.show_whole(split_thinking(SOURCE))
    fresh = whole(frame, SOURCE)
    assert body.plain_text() == fresh.plain_text()
    assert [type(part) for part in body.parts] == [type(part) for part in fresh.parts]
    assert body.arrange(500) == fresh.arrange(500)


def test_while_it_grows_finished_blocks_are_not_touched(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing(split_thinking("one\n\n```py\nx = 1\n```\n\ntw", is_growing=True))
    before = list(body.parts)
    tail = before[-1]
    body.show_growing(split_thinking("one\n\n```py\nx = 1\n```\n\ntwo\n\nthree", is_growing=True))
    assert body.parts == before
    assert tail.plain_text() == "two\nthree"


def test_prose_and_code_stand_in_their_own_views(frame: QWidget) -> None:
    body = whole(frame, SOURCE)
    assert [type(part) for part in body.parts] == [ProsePane, CodeBlock, ProsePane]


def test_code_is_shown_while_its_fence_is_still_open(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing(split_thinking("```python\nx = 1\ny", is_growing=True))
    (code,) = body.parts
    body.show_growing(split_thinking("```python\nx = 1\ny = 2", is_growing=True))
    assert body.parts == [code]
    assert code.plain_text() == "x = 1\ny = 2"


def test_a_half_written_fence_becomes_code_and_leaves_nothing_behind(frame: QWidget) -> None:
    body = AnswerBody(frame)
    for end in range(len("text\n\n```py\nx\n```") + 1):
        body.show_growing(split_thinking("text\n\n```py\nx\n```"[:end], is_growing=True))
    assert [part.plain_text() for part in body.parts] == ["text", "x"]


def test_copy_gives_the_code_as_written(frame: QWidget, qapp: object) -> None:
    from PySide6.QtGui import QGuiApplication

    code = "if x:\n    " + "y" * 2000
    body = whole(frame, f"```py\n{code}\n```")
    (block,) = body.parts
    assert isinstance(block, CodeBlock)
    block.copy.click()
    assert QGuiApplication.clipboard().text() == code + "\n"


def test_the_copy_button_of_code_does_not_move_the_text(frame: QWidget) -> None:
    body = whole(frame, "```py\nx\n```")
    body.arrange(400)
    (block,) = body.parts
    text = block.findChild(QPlainTextEdit)
    assert text
    before = text.geometry()
    block.copy.click()
    assert text.geometry() == before


def test_a_text_that_is_not_a_continuation_is_drawn_anew(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing(split_thinking("one\n\ntwo", is_growing=True))
    body.show_growing(split_thinking("three", is_growing=True))
    assert body.plain_text() == "three"


def test_long_answers_are_split_into_panes_and_stay_whole(frame: QWidget) -> None:
    source = "\n\n".join(f"paragraph {n} " + "word " * 60 for n in range(60))
    body = AnswerBody(frame)
    for end in range(0, len(source), 997):
        body.show_growing(split_thinking(source[:end], is_growing=True))
    body.show_whole(split_thinking(source))
    assert len(body.parts) > 2
    assert all(f"paragraph {n} " in body.plain_text() for n in range(60))


def test_the_end_of_a_fence_is_never_seen_as_code(frame: QWidget) -> None:
    body = AnswerBody(frame)
    source = "```py\nx\n```\n"
    for end in range(7, len(source) + 1):
        body.show_growing(split_thinking(source[:end], is_growing=True))
        assert "`" not in body.plain_text()


def test_thinking_is_open_while_it_lasts_and_folded_away_after(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing(split_thinking("<think>Let me", is_growing=True), 1.0)
    assert body.thinking.is_open
    assert body.thinking.header.text() == "Thinking…"
    body.show_growing(split_thinking("<think>Let me see.</think>It is 4.", is_growing=True), 4.2)
    assert not body.thinking.is_open
    assert body.thinking.header.text() == "Thought for 4.2 s"
    assert body.plain_text() == "It is 4."


def test_thinking_that_somebody_wants_to_see_stays_open(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_whole(split_thinking("<think>Let me **see**.</think>It is 4."))
    folded = body.arrange(500)
    body.thinking.header.click()
    assert body.arrange(500) > folded
    body.show_whole(split_thinking("<think>Let me **see**.</think>It is 4."))
    assert body.thinking.is_open


def test_another_answer_in_the_same_view_begins_with_its_thinking_folded(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_whole(split_thinking("<think>One.</think>1"))
    body.thinking.toggle()
    body.show_whole(split_thinking("<think>Two.</think>2"))
    assert not body.thinking.is_open
    body.show_whole(split_thinking("No thought."))
    assert body.thinking.isHidden()


def test_an_answer_without_thinking_has_no_section(frame: QWidget) -> None:
    body = whole(frame, "Hello")
    assert body.thinking.isHidden()
    assert body.arrange(500) == body.column.height()


def test_who_listens_can_name_the_parts(frame: QWidget) -> None:
    body = AnswerBody(frame)
    body.show_growing(split_thinking("<think>Hm", is_growing=True), 0.0)
    assert body.thinking.header.accessibleName() == "Thinking…"
    body.show_whole(split_thinking("text\n\n```py\nx\n```"))
    prose, code = body.parts
    assert isinstance(code, CodeBlock)
    assert prose.accessibleName() == "Answer"
    assert code.text.accessibleName() == "Code, py"
    assert [button.accessibleName() for button in (code.wrap, code.save, code.copy)] == [
        "Wrap long lines",
        "Save to a file",
        "Copy code",
    ]


PIECES = "".join(f"```\ncode {n}\n```\n\n" for n in range(2 * MAX_PARTS))


def test_of_a_text_in_very_many_parts_the_end_is_shown_as_it_was_written(frame: QWidget) -> None:
    body = whole(frame, PIECES)
    shown = body.plain_text()
    assert len(body.parts) == MAX_PARTS
    assert shown.endswith(PIECES[PIECES.index(f"```\ncode {MAX_PARTS}\n") :])
    assert all(f"code {n}\n" in shown for n in range(2 * MAX_PARTS))


def test_it_is_shown_so_too_while_it_grows_and_goes_on(frame: QWidget) -> None:
    body = AnswerBody(frame)
    for end in range(0, len(PIECES), 300):
        body.show_growing(split_thinking(PIECES[:end], is_growing=True))
    body.show_whole(split_thinking(PIECES))
    assert body.plain_text() == whole(frame, PIECES).plain_text()
    body.show_whole(split_thinking("Another one"))
    assert body.plain_text() == "Another one"


@pytest.mark.usefixtures("short_frames")
def test_a_long_answer_is_drawn_in_turns_and_all_of_it_in_the_end(frame: QWidget, qtbot: QtBot) -> None:
    source = "\n\n".join(f"paragraph {n} " + "word " * 60 for n in range(100))
    body = AnswerBody(frame)
    body.height_changed.connect(lambda: body.arrange(500))
    body.show_whole(split_thinking(source))
    first, num_first = body.arrange(500), len(body.parts)
    assert "paragraph 0 " in body.parts[0].plain_text()
    qtbot.waitUntil(lambda: frame_budget().num_waiting == 0)
    assert body.height() > first
    assert len(body.parts) > num_first
    assert "paragraph 99 " in body.parts[-1].plain_text()
    assert body.height() == sum(part.height() for part in body.parts) + 10 * (len(body.parts) - 1)


@pytest.mark.usefixtures("short_frames")
def test_a_narrower_page_lays_out_a_long_answer_in_turns(frame: QWidget, qtbot: QtBot) -> None:
    body = whole(frame, "word " * 8_000)
    body.height_changed.connect(lambda: body.arrange(body.width()))
    body.arrange(500)
    qtbot.waitUntil(lambda: frame_budget().num_waiting == 0)
    with frame_budget().shared():
        body.arrange(300)
    assert body.parts[0].width() == 300
    assert body.parts[-1].width() == 500
    qtbot.waitUntil(lambda: frame_budget().num_waiting == 0)
    assert all(part.width() == 300 for part in body.parts)
