from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.inspector.stop_choice import END, FAILURE, POSITION, TOKEN, StopChoice, hint, token_choices
from app.protocol.commands import (
    Command,
    RunUntil,
    Tokenize,
    UntilDecodeFails,
    UntilEnd,
    UntilPosition,
    UntilToken,
)
from app.protocol.report import TokenizedText, TokenTexts
from tests.inspector.reports import decoding

TITLES = {"sums": "Sums", "notes": "Notes & more"}
HELLO = TokenizedText("hello hello", TokenTexts((12, 13, 12), (b"he", b"llo ", b"he")))


@pytest.fixture
def choice(qtbot: QtBot) -> Iterator[StopChoice]:
    choice = StopChoice(None)  # type: ignore[arg-type]
    qtbot.addWidget(choice)
    choice.show()
    choice.set_engine(4096)
    choice.set_slots((decoding(0, "sums", 40), decoding(1, "notes", 7)), TITLES)
    yield choice


def emitted(choice: StopChoice) -> list[Command]:
    commands: list[Command] = []
    choice.commanded.connect(commands.append)
    return commands


def test_a_position_is_suggested_and_can_be_changed(choice: StopChoice) -> None:
    commands = emitted(choice)
    choice.sequence.choose(1)
    assert choice.stop_condition == UntilPosition(1, 22)  # a little behind where it is
    choice.position.setValue(30)
    choice.run.click()
    assert commands == [RunUntil(UntilPosition(1, 30))]
    assert choice.words == "sequence 1 reaches position 30"


def test_a_position_is_typed_and_entered(choice: StopChoice) -> None:
    commands = emitted(choice)
    choice.position.lineEdit().selectAll()
    QTest.keyClicks(choice.position, "123")
    QTest.keyClick(choice.position, Qt.Key.Key_Return)
    assert commands == [RunUntil(UntilPosition(0, 123))]


def test_a_text_becomes_a_token_that_the_model_has(choice: StopChoice, qtbot: QtBot) -> None:
    commands = emitted(choice)
    choice.condition.choose(TOKEN)
    assert not choice.run.isEnabled()
    QTest.keyClicks(choice.text, "hello hello")
    qtbot.waitUntil(lambda: bool(commands))
    assert commands == [Tokenize("hello hello")]
    choice.set_tokens(HELLO)
    assert choice.token.isVisible()
    choice.token.choose(13)
    choice.run.click()
    assert commands[-1] == RunUntil(UntilToken(13))


def test_another_text_waits_for_its_own_tokens(choice: StopChoice) -> None:
    choice.condition.choose(TOKEN)
    QTest.keyClicks(choice.text, "hello hello")
    choice.set_tokens(HELLO)
    QTest.keyClicks(choice.text, "!")
    assert choice.stop_condition is None
    choice.set_tokens(HELLO)  # too late
    assert choice.stop_condition is None


def test_each_token_of_a_text_can_be_chosen_once_as_it_is_written() -> None:
    assert list(token_choices(HELLO)) == [
        (12, "“he” · 12"),
        (13, "“llo␣” · 13"),
    ]
    assert "3 tokens" in hint(HELLO)
    assert hint(TokenizedText("a", TokenTexts((1,), (b"a",)))) == "One token."


def test_an_end_or_a_token_can_be_that_of_one_chat(choice: StopChoice) -> None:
    choice.condition.choose(END)
    assert choice.stop_condition == UntilEnd()
    choice.chat.choose("notes")
    assert choice.stop_condition == UntilEnd("notes")
    assert choice.words == "an answer ends in Notes & more"
    choice.set_slots((), {"sums": "Sums"})  # its tab was closed
    assert choice.stop_condition == UntilEnd()


def test_a_failure_needs_nothing_more(choice: StopChoice) -> None:
    choice.condition.choose(FAILURE)
    assert choice.stop_condition == UntilDecodeFails()
    assert not any(part.isVisible() for part in (choice.sequence, choice.text, choice.chat))


def test_without_an_engine_nothing_runs(choice: StopChoice) -> None:
    choice.condition.choose(POSITION)
    choice.set_engine(0)
    assert not choice.run.isEnabled()


def test_a_sequence_chosen_elsewhere_is_chosen_here(choice: StopChoice) -> None:
    choice.select_sequence(1)
    choice.select_sequence(7)  # there is none
    assert choice.sequence.value == 1


def test_what_the_user_has_chosen_is_not_suggested_away(choice: StopChoice) -> None:
    choice.suggest(1)
    assert choice.stop_condition == UntilPosition(1, 22)
    choice.set_slots((decoding(0, "sums", 40), decoding(1, "notes", 30)), TITLES)
    choice.suggest(1)
    assert choice.stop_condition == UntilPosition(1, 45)
    choice.sequence.menu().actions()[0].trigger()
    choice.position.lineEdit().selectAll()
    QTest.keyClicks(choice.position, "99")
    choice.suggest(1)
    assert choice.stop_condition == UntilPosition(0, 99)


def test_the_list_opens_with_what_is_chosen_ticked(choice: StopChoice) -> None:
    choice.chat.choose("notes")
    actions = choice.chat.menu().actions()
    assert [(action.text(), action.isChecked()) for action in actions] == [
        ("any chat", False),
        ("Sums", False),
        ("Notes && more", True),
    ]
    actions[1].trigger()
    assert choice.chat.value == "sums"
