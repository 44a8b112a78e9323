from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.ui.composer.completion import Completion, Suggestion
from app.ui.composer.composer import Composer


@pytest.fixture
def taken() -> list[str]:
    return []


@pytest.fixture
def composer(qtbot: QtBot) -> Iterator[Composer]:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 500)
    composer = Composer(window)
    composer.setGeometry(20, 380, 660, 110)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    composer.editor.setFocus()
    qtbot.waitUntil(composer.editor.hasFocus)
    yield composer


@pytest.fixture
def completion(composer: Composer, taken: list[str]) -> Completion:
    def source(sign: str) -> list[Suggestion]:
        names = ("review", "release notes") if sign == "/" else ("README.md",)
        return [
            Suggestion(name, "git", "A sentence.", lambda name=name: taken.append(name)) for name in names
        ]

    composer.completion.set_source(source)
    return composer.completion


def names(completion: Completion) -> list[str]:
    if not completion.is_open or not completion.list:
        return []
    return [completion.list.rows.item(row).text() for row in range(completion.list.rows.count())]


def test_a_slash_at_the_beginning_offers_prompts(
    completion: Completion, composer: Composer, taken: list[str], qtbot: QtBot
) -> None:
    qtbot.keyClicks(composer.editor, "/re")
    assert names(completion) == ["review", "release notes"]
    qtbot.keyClicks(composer.editor, "lea")
    assert names(completion) == ["release notes"]
    sent: list[str] = []
    composer.submitted.connect(lambda text, _files: sent.append(text))
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert (taken, sent, composer.editor.toPlainText()) == (["release notes"], [], "")
    assert not completion.is_open


def test_keys_move_in_it_and_escape_leaves_the_word_alone(
    completion: Completion, composer: Composer, taken: list[str], qtbot: QtBot
) -> None:
    qtbot.keyClicks(composer.editor, "/")
    qtbot.keyClick(composer.editor, Qt.Key.Key_Down)
    qtbot.keyClick(composer.editor, Qt.Key.Key_Escape)
    assert not completion.is_open
    assert composer.editor.toPlainText() == "/"
    qtbot.keyClick(composer.editor, Qt.Key.Key_Backspace)
    qtbot.keyClicks(composer.editor, "/")
    qtbot.keyClick(composer.editor, Qt.Key.Key_Up)
    qtbot.keyClick(composer.editor, Qt.Key.Key_Tab)
    assert taken == ["release notes"]


def test_an_at_sign_before_any_word_offers_what_can_be_attached(
    completion: Completion, composer: Composer, taken: list[str], qtbot: QtBot
) -> None:
    qtbot.keyClicks(composer.editor, "Look at @read")
    assert names(completion) == ["README.md"]
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert (taken, composer.editor.toPlainText()) == (["README.md"], "Look at ")


@pytest.mark.parametrize("text", ["1/2", "a@b.org", "see /review", "\n/re", "/nothing", "/review "])
def test_it_stays_away_from_other_text(
    completion: Completion, composer: Composer, qtbot: QtBot, text: str
) -> None:
    composer.editor.setPlainText(text)
    composer.editor.moveCursor(QTextCursor.MoveOperation.End)
    assert not completion.is_open


def test_a_click_takes_one_too(
    completion: Completion, composer: Composer, taken: list[str], qtbot: QtBot
) -> None:
    qtbot.keyClicks(composer.editor, "/")
    assert completion.list
    rows = completion.list.rows
    place = rows.visualItemRect(rows.item(1)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert taken == ["release notes"]
    assert composer.editor.hasFocus()
