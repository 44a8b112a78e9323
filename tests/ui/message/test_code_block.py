import base64
import json
import threading
import zlib
from pathlib import Path

import pytest
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from qasync import QEventLoop

from app.bridge.tasks import finish_all
from app.look.theme import apply_theme
from app.look.tokens import DARK, LIGHT
from app.ui.message import code_colours, code_text
from app.ui.message.code_block import CodeBlock, write_text_file
from app.ui.message.markdown import parse_blocks
from app.ui.message.passages import CopiedPassage, PassageKind

LONG_LINE = "value = " + " + ".join(f"number_{n}" for n in range(60))


@pytest.fixture
def frame(qtbot: QtBot, qapp: QApplication) -> QWidget:
    apply_theme(qapp, "light")
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.show()
    return frame


def block_of(frame: QWidget, source: str) -> CodeBlock:
    block = CodeBlock(frame)
    block.show_block(parse_blocks(source)[0])
    block.arrange(400)
    block.show()
    return block


def colours_of(block: CodeBlock, line: int) -> set[str]:
    formats = block.text.document().findBlockByNumber(line).layout().formats()
    return {found.format.foreground().color().name() for found in formats}


def test_long_lines_are_wrapped_when_asked_for(frame: QWidget, qtbot: QtBot) -> None:
    block = block_of(frame, f"```py\n{LONG_LINE}\n```")
    one_line = block.arrange(400)
    with qtbot.waitSignal(block.height_changed):
        block.wrap.click()
    assert block.arrange(400) > one_line
    assert block.plain_text() == LONG_LINE
    block.wrap.click()
    assert block.arrange(400) == one_line


async def test_code_is_saved_as_it_was_written(frame: QWidget, qloop: QEventLoop, tmp_path: Path) -> None:
    block = block_of(frame, "```py\nprint('ä\u202e')\n```")
    block.save.click()
    (dialog,) = frame.window().findChildren(QFileDialog)
    assert dialog.selectedFiles()[0].endswith("code.py")
    assert not dialog.isModal() or dialog.windowModality() is Qt.WindowModality.WindowModal
    dialog.fileSelected.emit(str(tmp_path / "mine.py"))
    dialog.close()
    await finish_all()
    assert (tmp_path / "mine.py").read_text(encoding="utf-8") == "print('ä\u202e')\n"
    assert block.note.text() == "Saved in mine.py."
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


async def test_code_that_cannot_be_saved_says_why(frame: QWidget, qloop: QEventLoop, tmp_path: Path) -> None:
    block = block_of(frame, "```\nx\n```")
    block.save_as(tmp_path / "no such folder" / "x.txt", "x")
    await finish_all()
    assert block.note.text() == "x.txt could not be written: No such file or directory."


def test_hidden_characters_are_counted_shown_and_warned_of(frame: QWidget) -> None:
    block = block_of(frame, "```js\nlet a = 'x\u202e\u2066'\n```")
    clipboard = QGuiApplication.clipboard()
    assert block.plain_text() == "let a = 'x⟦U+202E⟧⟦U+2066⟧'"
    assert block.note.text() == "⚠ 2 hidden characters"
    block.copy.click()
    assert clipboard.text() == "let a = 'x\u202e\u2066'\n"
    assert block.note.text() == "⚠ Copied with 2 hidden characters"
    block.copy_clean.click()
    assert clipboard.text() == "let a = 'x'\n"


def test_code_without_them_says_nothing(frame: QWidget) -> None:
    block = block_of(frame, "```js\nlet a\n```")
    assert block.note.isHidden()
    assert block.copy_clean.isHidden()


def test_a_selection_stays_while_code_is_written(frame: QWidget) -> None:
    block = block_of(frame, "```py\nx = 1\n")
    for source in ("```py\nx = 1\ny", "```py\nx = 1\ny = 2\n", "```py\nx = 1\ny = 2\n```"):
        block.show_block(parse_blocks(source)[0])
        block.text.show_selected(0, 5, is_lit=True)
        assert [mark.cursor.selectedText() for mark in block.text.extraSelections()] == ["x = 1"]
    assert block.plain_text() == "x = 1\ny = 2"
    assert block.copied(0, 5) == [CopiedPassage(PassageKind.CODE, text="x = 1", info="py")]


def test_a_character_that_is_hidden_at_the_end_is_marked_at_once(frame: QWidget) -> None:
    block = block_of(frame, "```\na")
    for source in ("```\na\u202e", "```\na\u202eb", "```\na\u202eb\n\u200b"):
        block.show_block(parse_blocks(source)[0])
    assert block.plain_text() == "a⟦U+202E⟧b\n⟦U+200B⟧"


def test_finished_lines_have_colours_before_the_code_ends(frame: QWidget) -> None:
    block = block_of(frame, "```py\nimport os\nx")
    assert colours_of(block, 0) == {LIGHT.keyword, LIGHT.type_}
    assert colours_of(block, 1) == set()


def test_what_spans_lines_has_its_colours_when_the_code_has_ended(frame: QWidget, qtbot: QtBot) -> None:
    block = block_of(frame, '```py\nx = """one\nimport os\n"""\n')
    block.show_block(parse_blocks('```py\nx = """one\nimport os\n"""\n```')[0])
    qtbot.waitUntil(lambda: colours_of(block, 1) == {LIGHT.string})


def test_what_spans_lines_has_its_colours_while_it_is_written(frame: QWidget) -> None:
    source = '```py\ndef f():\n    """Says if\n\n    import and 1.\n    """\n    return 1\n\n'
    block = block_of(frame, source[:20])
    for end in range(20, len(source) + 1):
        block.show_block(parse_blocks(source[:end])[0])
    assert [colours_of(block, line) for line in (1, 3, 4)] == [{LIGHT.string}] * 3
    assert colours_of(block, 5) == {LIGHT.keyword, LIGHT.number}


def test_a_string_that_does_not_end_costs_no_more_than_its_last_lines(
    frame: QWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []

    def counted(code: str, language: str) -> object:
        lengths.append(len(code))
        return code_colours.coloured_lines(code, language)

    monkeypatch.setattr(code_text, "coloured_lines", counted)
    block_of(frame, '```py\nx = """\n' + "some more words\n" * 1_000)
    assert max(lengths) < code_text.MAX_OPEN_CHARS + 200


def test_a_diagram_is_copied_as_a_link_that_shows_it(frame: QWidget) -> None:
    diagram = "flowchart LR\n  甲 --> B"
    block = block_of(frame, f"```mermaid\n{diagram}")
    assert block.copy_link.isHidden()
    block.show_block(parse_blocks(f"```mermaid\n{diagram}\n```")[0])
    assert not block.copy_link.isHidden()
    block.copy_link.click()
    page, packed = QGuiApplication.clipboard().text().split("#pako:")
    assert page == "https://mermaid.live/edit"
    state = json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))))
    assert state["code"].strip() == diagram
    block.show_block(parse_blocks("```py\nx\n```")[0])
    assert block.copy_link.isHidden()


def test_an_unusual_language_is_learnt_on_a_thread_of_its_own_and_its_code_coloured_then(
    frame: QWidget, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some take 0.15 s, and the model may name all 600."""
    asked_on: list[bool] = []

    def lexer(language: str) -> Lexer | None:
        asked_on.append(threading.current_thread() is threading.main_thread())
        return get_lexer_by_name("python")

    languages = code_colours._Languages()
    monkeypatch.setattr(code_colours, "_languages", lambda: languages)
    monkeypatch.setattr(code_colours, "_lexer", lexer)
    block = block_of(frame, "```scala\nreturn 1\n```")
    assert colours_of(block, 0) == set()
    qtbot.waitUntil(lambda: colours_of(block, 0) == {LIGHT.keyword, LIGHT.number})
    assert asked_on[0] is False


def test_of_many_unusual_languages_one_at_a_time_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    is_taught = threading.Event()
    monkeypatch.setattr(code_colours, "_lexer", lambda _language: is_taught.wait(10))
    languages = code_colours._Languages()
    before = threading.active_count()
    assert not any(languages.is_known(f"language {number}") for number in range(50))
    assert threading.active_count() == before + 1
    is_taught.set()
    assert languages._learner
    languages._learner.join()
    assert languages.is_known("language 0")


def test_colours_change_with_the_theme(frame: QWidget, qtbot: QtBot, qapp: QApplication) -> None:
    block = block_of(frame, "```py\nimport os\n```")
    qtbot.waitUntil(lambda: colours_of(block, 0) == {LIGHT.keyword, LIGHT.type_})
    apply_theme(qapp, "dark")
    try:
        qtbot.waitUntil(lambda: colours_of(block, 0) == {DARK.keyword, DARK.type_})
    finally:
        apply_theme(qapp, "light")


def test_code_runs_from_left_to_right_whatever_it_begins_with(frame: QWidget) -> None:
    block = block_of(frame, "```\nשלום = 1\n```")
    assert block.text.document().defaultTextOption().textDirection() is Qt.LayoutDirection.LeftToRight


def test_a_text_is_written_as_it_is(tmp_path: Path) -> None:
    write_text_file(tmp_path / "x.txt", "ä\r\nb\n\ud800")
    assert (tmp_path / "x.txt").read_bytes() == "ä\r\nb\n?".encode()


def test_what_was_there_stays_if_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("before", encoding="utf-8")

    def full(*_arguments: object, **_named: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        write_text_file(path, "after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_code_is_as_high_as_its_lines_whatever_font_their_letters_come_from(frame: QWidget) -> None:
    lines = ["x = 1", "# 中文注释", "a → b", "مرحبا"] * 8
    block = block_of(frame, "```py\n" + "\n".join(lines) + "\n```")
    document = block.text.document()
    last = block.text.blockBoundingGeometry(document.lastBlock()).translated(block.text.contentOffset())
    assert last.bottom() <= block.text.height() <= last.bottom() + 4
